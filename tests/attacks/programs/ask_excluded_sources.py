"""Asks for the repository that must not be seen, for its fork, its mirror, its package, by git."""

import urllib.request

from attack import attempt, facts, finish

for path in (
    "owner/target/archive/main.zip",
    "mirrors/owner-target.tar.gz",
    "x/..%2fowner/%74arget/",
    "OWNER/Target",
    "owner/target.git/info/refs?service=git-upload-pack",
    "simple/target-package/",
    "files/Target_Package-1.0-py3-none-any.whl",
):
    with attempt(f"asking for {path}"):
        urllib.request.urlopen(f"http://{facts['allowed_host']}/{path}", timeout=10).read()
with attempt("asking where code lies by HTTPS"):
    urllib.request.urlopen("https://github.com/owner/target", timeout=10).read()
finish()
