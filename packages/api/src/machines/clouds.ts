// Forms for machines in clouds, whose tokens name an account of the cloud.
import type { FormResult, FormValues, MachineForm, Problems, Snippet, SnippetPlace } from "./form.ts";
import { askedAudience, AUDIENCE, audienceOf, imageOf, issuerField, issuerOf, loginLine, UUID } from "./parts.ts";

/**
 * Google service accounts. The issuer is `https://accounts.google.com`, the subject the account's unique ID, a number
 * that no other account gets; `email` is its address, which whoever may make accounts in the project can take again.
 *
 * Source: https://cloud.google.com/compute/docs/instances/verifying-instance-identity
 */
export const GOOGLE: MachineForm = {
  name: "google",
  title: "Google service account",
  fields: [
    { name: "account", label: "Service account", help: "its unique ID (a number), or its address" },
    { name: "email", label: "Address", help: "beside a unique ID: the address as well" },
    AUDIENCE,
  ],
  read: readGoogle,
  snippet: (values, place) =>
    shell(place, values, (audience) => [
      'curl -fsS -H "Metadata-Flavor: Google" \\',
      `  "http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=${encodeURIComponent(audience)}&format=full" |`,
    ]),
};

const SERVICE_ADDRESS = /^[\w.-]{1,100}@[\w.-]{1,200}\.gserviceaccount\.com$/;

function readGoogle(values: FormValues, problems: Problems): FormResult {
  const { account = "" } = values;
  const isNumber = /^\d{10,30}$/.test(account);
  if (!isNumber && !SERVICE_ADDRESS.test(account))
    problems.add("account", "must be a unique ID (a number), or an address that ends in .gserviceaccount.com");
  const email = isNumber
    ? problems.optional(values, { name: "email", form: SERVICE_ADDRESS, what: "an address of a service account" })
    : account;
  return {
    match: {
      issuer: issuerOf(values, problems, "https://accounts.google.com"),
      ...(isNumber ? { subject: account } : { subjectPattern: "[0-9]+" }),
      ...audienceOf(values, problems),
      claims: email === undefined ? {} : { email, email_verified: "true" },
      claimPatterns: {},
    },
    accepts: `Google, of the service account ${account}.`,
    warnings: isNumber
      ? []
      : [
          {
            text: "Whoever makes an account of this address, after it was deleted, can log in. The unique ID prevents that.",
            command: `gcloud iam service-accounts describe ${account} --format='value(uniqueId)'`,
          },
        ],
  };
}

/**
 * Managed identities and applications of Entra ID. The subject of a token that an application asked for itself is the
 * object ID of its service principal, as is `oid`. Its audience is an application of the tenant: tokens for its URI
 * (`api://…`) are of version 1, with the issuer `https://sts.windows.net/TENANT/`, those for its client ID of version 2,
 * with `https://login.microsoftonline.com/TENANT/v2.0`.
 *
 * Source: https://learn.microsoft.com/entra/identity-platform/access-token-claims-reference
 */
export const AZURE: MachineForm = {
  name: "azure",
  title: "Azure managed identity or application",
  fields: [
    {
      name: "objectId",
      label: "Object ID",
      help: "of the managed identity, or of the application's service principal",
    },
    { name: "tenant", label: "Tenant ID", help: "of the directory it is in" },
    { name: "audience", label: "Audience", help: "the application that tokens are for: api://…, or its client ID" },
    issuerField("where the tokens have another one than their version has"),
  ],
  read: readAzure,
  snippet: (values, place) =>
    shell(place, values, (audience) => [
      "curl -fsS -H Metadata:true \\",
      `  "http://169.254.169.254/metadata/identity/oauth2/token?api-version=2018-02-01&resource=${encodeURIComponent(audience)}" |`,
      "  jq -r .access_token |",
    ]),
};

function readAzure(values: FormValues, problems: Problems): FormResult {
  const objectId = problems.exact(values, { name: "objectId", form: UUID, what: "a UUID" }).toLowerCase();
  const tenant = problems
    .exact(values, { name: "tenant", form: UUID, what: "the UUID of one directory; common lets in all of them" })
    .toLowerCase();
  const { audience = "" } = audienceOf(values, problems);
  if (audience === "") problems.add("audience", "is required: Entra ID makes tokens for its own applications alone");
  const usual = UUID.test(audience)
    ? `https://login.microsoftonline.com/${tenant}/v2.0`
    : `https://sts.windows.net/${tenant}/`;
  return {
    match: {
      issuer: issuerOf(values, problems, usual),
      subject: objectId,
      audience,
      claims: { oid: objectId, tid: tenant },
      claimPatterns: {},
    },
    accepts: `Entra ID, of the managed identity or application ${objectId} in the tenant ${tenant}.`,
    warnings: [],
  };
}

/**
 * IAM roles of AWS, by tokens of `sts get-web-identity-token`. The account's issuer is
 * `https://….tokens.sts.global.api.aws`, the subject the role's ARN.
 *
 * Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_providers_outbound_token_claims.html
 */
export const AWS: MachineForm = {
  name: "aws",
  title: "AWS role",
  fields: [
    { name: "role", label: "Role", help: "its ARN: arn:aws:iam::123456789012:role/builder" },
    issuerField("of the account: aws iam get-outbound-web-identity-federation-info shows it"),
    AUDIENCE,
  ],
  read: readAws,
  snippet: (values, place) =>
    shell(place, values, (audience) => [
      `aws sts get-web-identity-token --audience ${audience} \\`,
      "  --signing-algorithm RS256 --duration-seconds 300 \\",
      "  --query WebIdentityToken --output text |",
    ]),
};

function readAws(values: FormValues, problems: Problems): FormResult {
  if (/^arn:[a-z-]+:sts:/.test(values["role"] ?? ""))
    problems.add("role", "must be the ARN of the role itself, not of a session: arn:aws:iam::…:role/…");
  const role = problems.exact(values, {
    name: "role",
    form: /^arn:aws[a-z-]{0,20}:iam::\d{12}:role\/[\w+=,.@/-]{1,576}$/,
    what: "the ARN of one role, such as arn:aws:iam::123456789012:role/builder",
  });
  return {
    match: {
      issuer: issuerOf(values, problems),
      subject: role,
      ...audienceOf(values, problems),
      claims: {},
      claimPatterns: {},
    },
    accepts: `AWS, of the role ${role}.`,
    warnings: [],
  };
}

/** A machine of a cloud asks it for a token in a shell. */
function shell(place: SnippetPlace, values: FormValues, ask: (audience: string) => readonly string[]): Snippet {
  const image = imageOf(place, "app");
  return {
    where: "a shell on the machine",
    text: [
      `docker build -t ${image} .`,
      ...ask(askedAudience(values, place)),
      `  ${loginLine(place)}`,
      `docker push ${image}`,
    ].join("\n"),
  };
}
