import type { FormResult, FormValues, MachineForm, Problems, Snippet, SnippetPlace } from "./form.ts";
import { askedAudience, AUDIENCE, audienceOf, imageOf, issuerField, issuerOf } from "./parts.ts";

/**
 * Pods of a Kubernetes service account, with a projected token. The subject is `system:serviceaccount:NAMESPACE:NAME`;
 * the issuer is that of the cluster (`--service-account-issuer`), where its keys are published.
 *
 * Source: https://kubernetes.io/docs/tasks/configure-pod-container/configure-service-account/
 */
export const KUBERNETES: MachineForm = {
  name: "kubernetes",
  title: "Kubernetes service account",
  fields: [
    { name: "account", label: "Service account", help: "namespace/name, such as ci/builder" },
    issuerField("of the cluster: kubectl get --raw /.well-known/openid-configuration shows it"),
    AUDIENCE,
  ],
  read,
  snippet,
};

function read(values: FormValues, problems: Problems): FormResult {
  const account = problems.exact(values, {
    name: "account",
    form: /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\/[a-z\d](?:[a-z\d.-]{0,251}[a-z\d])?$/,
    what: "namespace/name of one service account",
  });
  const issuer = issuerOf(values, problems);
  const warnings = [
    {
      text: `Whoever may make pods in the namespace ${account.split("/")[0]}, or tokens of the service account, can log in.`,
    },
  ];
  if (/^https:\/\/kubernetes\.default\b/.test(issuer))
    warnings.push({
      text: `Every cluster that was set up by default calls itself ${issuer}. The server must be able to read the keys of this one there.`,
    });
  return {
    match: {
      issuer,
      subject: `system:serviceaccount:${account.replace("/", ":")}`,
      ...audienceOf(values, problems),
      claims: {},
      claimPatterns: {},
    },
    accepts: `the cluster ${issuer}, of pods of the service account ${account}.`,
    warnings,
  };
}

function snippet(values: FormValues, place: SnippetPlace): Snippet {
  const [namespace = "", name = ""] = values["account"]?.split("/") ?? [];
  const { registry, identity } = place;
  return {
    where: "push.yaml, for kubectl apply",
    text: [
      "apiVersion: v1",
      "kind: Pod",
      "metadata:",
      "  name: push",
      `  namespace: ${namespace}`,
      "spec:",
      `  serviceAccountName: ${name}`,
      "  restartPolicy: Never",
      "  containers:",
      "    - name: push",
      "      image: builder # one with skopeo, which has made /tmp/image",
      "      command: [sh, -ec]",
      "      args:",
      "        - |",
      `          skopeo login ${registry} --username ${identity} --password-stdin < /var/run/moorage/token`,
      `          skopeo copy oci:/tmp/image docker://${imageOf(place, "app")}`,
      "      volumeMounts:",
      "        - {name: moorage, mountPath: /var/run/moorage, readOnly: true}",
      "  volumes:",
      "    - name: moorage",
      "      projected:",
      "        sources:",
      "          - serviceAccountToken:",
      "              path: token",
      `              audience: ${askedAudience(values, place)}`,
      "              expirationSeconds: 600",
    ].join("\n"),
  };
}
