"""A step of a pipeline as a pod under a sandbox policy, its metrics streamed by Dagster Pipes.

    @dg.asset(required_resource_keys={"steps"})
    def trained(context):
        policy = SandboxPolicy(image="registry/steps@sha256:…", limits=Limits(wall_clock=600))
        return context.resources.steps.run(
            context=context, policy=policy, command=["python3", "/app/train.py"]
        ).get_materialize_result()

dagster-k8s's client, with the pod that `sandbox.kubernetes` makes of a policy: what that module says of
what a manifest holds is what holds here. The image brings `dagster_pipes` and the step's code. A
NetworkPolicy that denies all traffic to the namespace's steps is made before the first of them. The pod
is deleted however the step ends; where this process is killed, the policy's wall clock ends the pod and
`kubectl delete pod -l repro-pipeline/run=step` removes it.

It was run against an API server made for the test, never against a cluster.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import dagster as dg
import kubernetes
import urllib3
from dagster_k8s import PipesK8sClient
from dagster_k8s.client import DagsterK8sError
from dagster_k8s.utils import detect_current_namespace
from dagster_pipes import PipesExtras

from repro_pipeline.errors import SandboxUnavailable, UserError
from repro_pipeline.sandbox.kubernetes import labels_of, network_policy, pod_spec
from repro_pipeline.sandbox.policy import SandboxPolicy

STEP = "step"
"""The label `repro-pipeline/run` of all steps, and the name of their NetworkPolicy."""

_START = 3600.0  # seconds in which a pod must find its place, beside its wall clock
_STANDS = 409  # what the API answers where an object of that name is there


class SandboxedPodsClient(PipesK8sClient):
    """Runs a step in a pod, and hands on what it reports."""

    def run(  # ty: ignore[invalid-method-override]
        self,
        *,
        context: dg.OpExecutionContext | dg.AssetExecutionContext,
        policy: SandboxPolicy,
        command: Sequence[str],
        claims: Mapping[str, str] | None = None,
        namespace: str | None = None,
        extras: PipesExtras | None = None,
    ) -> dg.PipesClientCompletedInvocation:
        """Run a command to its end in the policy's image; `claims` are as `pod_spec` takes them.

        Raises dagster.Failure with the reason where it does not end well; UserError and
        SandboxUnavailable where no pod can hold the policy, or the cluster takes none.
        """
        if policy.image is None:
            raise UserError("the policy names no image.", hint="A pod runs in one: say `image: …`.")
        spec = pod_spec(policy, image=policy.image, command=command, claims=claims or {})
        seconds = math.ceil(policy.limits.wall_clock)
        try:
            place = namespace or detect_current_namespace(self.kubeconfig_file) or "default"
            self._deny_traffic(place)
            return super().run(
                context=context,
                extras=extras,
                namespace=place,
                base_pod_meta={"labels": labels_of(STEP)},
                base_pod_spec={**spec, "activeDeadlineSeconds": seconds},
                pod_wait_timeout=seconds + _START,
            )
        except DagsterK8sError as error:
            raise dg.Failure(f"the step's pod: {error}") from None
        except kubernetes.config.ConfigException as error:
            raise SandboxUnavailable(f"no cluster is configured: {error}.") from None
        except kubernetes.client.ApiException as error:
            raise SandboxUnavailable(
                f"the cluster refused the step: {error.status} {error.reason}."
            ) from None
        except urllib3.exceptions.HTTPError as error:
            raise SandboxUnavailable(f"the cluster does not answer: {error}.") from None

    def _deny_traffic(self, namespace: str) -> None:
        self._load_k8s_config()
        api = kubernetes.client.NetworkingV1Api()
        try:
            api.create_namespaced_network_policy(namespace, network_policy(STEP))
        except kubernetes.client.ApiException as error:
            if error.status != _STANDS:
                raise
