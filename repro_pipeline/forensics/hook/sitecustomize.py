"""Runs inside the sandbox, at the start of every Python of a run: writes down what the code does.

Every run has it, probes and others alike, under the same path and with the same variables. What it
notes goes to `$RUN_RECORD/<pid>`, one JSON list a line: the event, what it was about, and the line
of the run's own code that did it. A code that wipes its record is seen by that. The file
`$RUN_RECORD/mode` says what else to do; it is gone before the code starts.

Standard library only, and quiet: a fault of the hook must not become one of the run.
"""

import atexit
import json
import os
import sys
import time


class _Hook:
    LIMIT = 4000  # notes of one kind; then it says that it is full
    PATHS = ("open", "os.listdir", "os.scandir", "os.remove", "os.rename", "os.utime", "glob.glob")
    ALWAYS = (
        "import",
        "exec",
        "subprocess.Popen",
        "os.system",
        "os.exec",
        "os.posix_spawn",
        "os.fork",
        "socket.connect",
        "socket.getaddrinfo",
        "socket.gethostname",
        "urllib.Request",
        "sys.settrace",
        "sys.setprofile",
        "sys._current_frames",
        "ctypes.dlopen",
    )

    def __init__(self, folder):
        self.work = os.getcwd()
        self.folder = folder
        self.seen = {}
        self.busy = False
        self.slept = 0.0
        self.start = time.monotonic()
        os.makedirs(folder, exist_ok=True)
        self.mode = self._take_mode()
        path = os.path.join(folder, str(os.getpid()))
        self.file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        self.system = tuple({sys.prefix, sys.base_prefix, "/usr/", "/lib", "/etc/", "/dev/"})

    def _take_mode(self):
        path = os.path.join(self.folder, "mode")
        try:
            with open(path, encoding="utf-8") as file:
                mode = file.read().strip()
            os.unlink(path)
        except OSError:
            return ""
        return mode

    def note(self, event, about, where):
        seen = self.seen.setdefault(event, set())
        if about in seen or len(seen) > self.LIMIT:
            return
        seen.add(about)
        if len(seen) > self.LIMIT:
            event, about = "full", event
        line = json.dumps([event, about, where]) + "\n"
        os.write(self.file, line.encode("utf-8", "replace"))

    def who(self, depth=2, imports=False):
        """The line of the run's own code that is at work; None where a library's import is."""
        frame = sys._getframe(depth)
        while frame is not None:
            name = frame.f_code.co_filename
            if name.startswith("<frozen importlib"):
                if not imports:
                    return None
            elif name.startswith(self.work) or name in ("<string>", "<stdin>"):
                short = name[len(self.work) + 1 :] if name.startswith(self.work) else name
                return short + ":" + str(frame.f_lineno)
            elif not name.startswith(("/", "<")):
                return name + ":" + str(frame.f_lineno)
            elif imports and not name.endswith("importlib/__init__.py"):
                return None
            frame = frame.f_back
        return None

    def auditor(self):
        """The audit hook. Python tells it of every call of `id` and look at a frame: most it must let go
        at once."""
        watched = frozenset(self.PATHS + self.ALWAYS)

        def audit(event, args):
            if event not in watched or self.busy:
                return
            self.busy = True
            try:
                self._audit(event, args)
            except Exception:
                pass
            finally:
                self.busy = False

        return audit

    def _audit(self, event, args):
        if event == "import":
            where = self.who(3, imports=True)
            if where:
                self.note("import", str(args[0]), where)
        elif event == "exec":
            name = getattr(args[0], "co_filename", "")
            if not name.startswith(("/", "<frozen")) and (where := self.who(3)):
                self.note("exec", name, where)
        elif event in self.PATHS:
            self._path(event, args)
        elif where := self.who(3):
            self.note(event, str(args[:2])[:200], where)

    def _path(self, event, args):
        path = args[0]
        if isinstance(path, bytes):
            path = os.fsdecode(path)
        if path is None:
            path = "."
        if not isinstance(path, str) or path.startswith(self.system):
            return
        if event == "open" and path.endswith((".pyc", ".so")):
            return
        where = self.who(4)
        if where is None:
            return
        full = os.path.normpath(os.path.join(os.getcwd(), path))
        if event == "open":
            flags = args[2] if len(args) > 2 and isinstance(args[2], int) else 0
            event = "write" if flags & (os.O_WRONLY | os.O_RDWR) else "read"
        self.note(event, full, where)

    def patch_sleep(self):
        sleep = time.sleep

        def timed(seconds):
            if self.who(2):
                self.slept += float(seconds)
            return sleep(seconds)

        timed.__name__ = timed.__qualname__ = "sleep"
        time.sleep = timed

    def patch_environ(self):
        getitem = type(os.environ).__getitem__

        def get(environ, key):
            if not self.busy and isinstance(key, str):
                self.busy = True
                try:
                    frame = sys._getframe(1)
                    while frame and frame.f_code.co_filename.startswith("<frozen"):
                        frame = frame.f_back  # os.getenv, Mapping.get
                    while frame and frame.f_code.co_filename.endswith(("/os.py", "_abc.py")):
                        frame = frame.f_back
                    name = frame.f_code.co_filename if frame else ""
                    if name.startswith(self.work) or name in ("<string>", "<stdin>"):
                        self.note("environ", key, name[len(self.work) + 1 :])
                except Exception:
                    pass
                finally:
                    self.busy = False
            return getitem(environ, key)

        type(os.environ).__getitem__ = get

    def end(self):
        if os.getpid() != self.pid:
            return
        used = os.times()
        about = {
            "cpu": used.user + used.system + used.children_user + used.children_system,
            "wall": time.monotonic() - self.start,
            "slept": self.slept,
        }
        os.write(self.file, (json.dumps(["end", about, None]) + "\n").encode())

    def install(self):
        self.pid = os.getpid()
        self.patch_sleep()
        self.patch_environ()
        sys.meta_path.insert(0, _Finder(self))
        atexit.register(self.end)
        sys.addaudithook(self.auditor())


class _Finder:
    """Lets modules load as ever, and then does what is to be done with some of them."""

    def __init__(self, hook):
        self.then = {
            "sklearn.base": lambda module: _Estimators(hook).watch(module.BaseEstimator),
            "torch": _make_deterministic,
        }

    def find_spec(self, name, path=None, target=None):
        then = self.then.get(name)
        if then is None:
            return None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None and spec.loader is not None:
                self._wrap(spec.loader, then)
                return spec
        return None

    def _wrap(self, loader, then):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            try:
                then(module)
            except Exception:
                pass

        loader.exec_module = exec_module


def _make_deterministic(torch):
    """Two runs of one configuration give the same sums, where torch has such algorithms; it warns else."""
    torch.use_deterministic_algorithms(True, warn_only=True)
    torch.backends.cudnn.benchmark = False


class _Estimators:
    """Notes, per outermost call, how many rows a prediction shares with the estimator's fit."""

    ROWS = 4000
    CALLS = 50  # of one line of the code: an ensemble calls it thousands of times

    def __init__(self, hook):
        self.hook = hook
        self.depth = 0
        self.fitted = {}
        self.calls = 0
        self.looked = {}

    def watch(self, base):
        made = base.__init_subclass__
        watcher = self

        def __init_subclass__(cls, **options):
            getattr(made, "__func__", made)(cls, **options) if hasattr(made, "__func__") else made(
                **options
            )
            watcher.wrap(cls)

        base.__init_subclass__ = classmethod(__init_subclass__)

    def wrap(self, cls):
        import functools

        for name in (
            "fit",
            "fit_predict",
            "predict",
            "predict_proba",
            "score",
            "decision_function",
        ):
            function = cls.__dict__.get(name)
            if not callable(function):
                continue

            def watched(estimator, *args, _function=function, _name=name, **options):
                args, options = self.before(estimator, _name, args, options)
                self.depth += 1
                try:
                    return _function(estimator, *args, **options)
                finally:
                    self.depth -= 1

            functools.update_wrapper(watched, function)
            setattr(cls, name, watched)

    def before(self, estimator, name, args, options):
        if self.depth or self.hook.busy:
            return args, options
        try:
            self.look(estimator, name, args, options, self.hook.who(3))
            if name.startswith("fit") and self.hook.mode == "labels":
                return self.permuted(args, options)
        except Exception:
            pass
        return args, options

    def look(self, estimator, name, args, options, where):
        """Compare rows at the first calls of each line; a later model is not taken for an earlier one."""
        fits = name.startswith("fit")
        if fits:
            self.fitted.pop(id(estimator), None)
        known = self.fitted.get(id(estimator))
        if not fits and known is None:
            return
        calls = self.looked[where, name] = self.looked.get((where, name), 0) + 1
        if calls > self.CALLS:
            return
        given = args[0] if args else options.get("X")
        rows = self.rows(given)
        self.calls += 1
        if fits:
            self.fitted[id(estimator)] = rows
            count = min(getattr(given, "shape", [len(given)])[0], self.ROWS)
            labelled = (len(args) > 1 and args[1] is not None) or options.get("y") is not None
            about = [type(estimator).__name__, self.calls, len(rows), count, labelled]
            self.hook.note("fit", repr(about), where)
        else:
            about = [type(estimator).__name__, name, self.calls, len(rows), len(rows & known)]
            self.hook.note("predict", repr(about), where)

    def rows(self, x):
        import numpy

        if hasattr(x, "toarray"):
            x = x[: self.ROWS].toarray()
        x = numpy.ascontiguousarray(numpy.asarray(x)[: self.ROWS])
        if x.dtype == object:
            return {repr(row.tolist()) for row in x}
        if not x.size:
            return {b""} if len(x) else set()
        whole = numpy.dtype((numpy.void, x.nbytes // len(x)))
        return set(x.reshape(len(x), -1).view(whole).ravel().tolist())

    def permuted(self, args, options):
        """The labels of a fit in another order, by a generator of its own."""
        import numpy

        def shuffle(y):
            order = numpy.random.Generator(numpy.random.PCG64(11)).permutation(len(y))
            return (
                y.iloc[order].set_axis(y.index) if hasattr(y, "iloc") else numpy.asarray(y)[order]
            )

        if len(args) > 1 and args[1] is not None:
            return (args[0], shuffle(args[1]), *args[2:]), options
        if options.get("y") is not None:
            return args, {**options, "y": shuffle(options["y"])}
        return args, options


def _start():
    folder = os.environ.get("RUN_RECORD")
    if not folder:
        return
    try:
        _Hook(folder).install()
    except Exception:
        pass


_start()
del _start
