// The text of `moorage hints`: what to try next, as lines to paste into another terminal.
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { Bootstrap, Config } from "@moorage/server";
import type { Client } from "./clients.ts";
import { OWN_COMMAND } from "./own-command.ts";
import { pushLines } from "./push-lines.ts";
import { pick, quote } from "./shell.ts";

/**
 * What the lines depend on: the running server, the installed programs, and the folder in which OWN_COMMAND works.
 */
export type HintsInput = {
  readonly config: Config;
  readonly bootstrap: Bootstrap;
  readonly clients: readonly Client[];
  readonly folder: string;
};

type Section = { readonly title: string; readonly lines: readonly string[] };

const PROVIDER_SCRIPT = "packages/cli/src/demo/provider.ts";
const PROVIDER_PORT = 9400;
const PROVIDER_URL = `http://127.0.0.1:${PROVIDER_PORT}`;
const JSON_BODY = `-H "Content-Type: application/json" -d`;
const BEARER = `-H "Authorization: Bearer $TOKEN"`;

function tokenLines(folder: string, dataDirFlag: string): Section {
  return {
    title: "1. Tokens: one for the platform API, one for the registry",
    lines: [
      `cd ${quote(folder)}`,
      `TOKEN=$(${OWN_COMMAND} token${dataDirFlag})`,
      `REGISTRY_TOKEN=$(${OWN_COMMAND} token --audience registry${dataDirFlag})`,
    ],
  };
}

function restLines(url: string, organization: string): Section {
  const claimMatch = `{"issuer": "https://token.actions.githubusercontent.com", "subject": "repo:acme/hello:ref:refs/heads/main"}`;
  return {
    title: "2. The platform API by curl: make a repo, an identity and a binding; list, get, change and delete them",
    lines: [
      `REPO=$(curl -sS ${url}/registry/v2/repos/${organization} ${BEARER} ${JSON_BODY} '{"name": "first"}' | ${pick(".uid")})`,
      `curl -sS -w '\\n' "${url}/registry/v2/repos?uidp.descendants_of=${organization}" ${BEARER}`,
      `curl -sS -w '\\n' ${url}/registry/v2/repos/$REPO ${BEARER}`,
      `curl -sS -w '\\n' -X PATCH ${url}/registry/v2/repos/$REPO ${BEARER} ${JSON_BODY} '{"description": "my first repo"}'`,
      `IDENTITY=$(curl -sS ${url}/iam/v2/identities/${organization} ${BEARER} ${JSON_BODY} '{"name": "ci", "claimMatch": ${claimMatch}}' | ${pick(".uid")})`,
      `VIEWER=$(curl -sS "${url}/iam/v2/roles?name=viewer" ${BEARER} | ${pick(".roles[0].uid")})`,
      `BINDING=$(curl -sS ${url}/iam/v2/roleBindings/${organization} ${BEARER} ${JSON_BODY} "{\\"identityUid\\": \\"$IDENTITY\\", \\"roleUid\\": \\"$VIEWER\\"}" | ${pick(".uid")})`,
      `curl -sS -w '\\n' ${url}/iam/v2/roleBindings/$BINDING ${BEARER}`,
      `curl -sS -w '%{http_code}\\n' -X DELETE ${url}/iam/v2/roleBindings/$BINDING ${BEARER}`,
      `curl -sS -w '%{http_code}\\n' -X DELETE ${url}/iam/v2/identities/$IDENTITY ${BEARER}`,
      `curl -sS -w '%{http_code}\\n' -X DELETE ${url}/registry/v2/repos/$REPO ${BEARER}`,
    ],
  };
}

function grpcLines(input: HintsInput, flags: string): Section {
  const {
    config,
    bootstrap: { organization },
    clients,
  } = input;
  const call = (method: string, request: string): string => `${OWN_COMMAND} call ${method} ${request} ${flags}`;
  const list = `{"uidp": {"descendantsOf": "${organization.uid}"}}`;
  const { host, protocol } = new URL(config.baseUrl);
  const grpcurl = `grpcurl ${protocol === "http:" ? "-plaintext " : ""}${BEARER} -d ${quote(list)} ${host} moorage.registry.v2.ReposService/ListRepos`;
  return {
    title: "   The same by gRPC on the same port",
    lines: [
      `REPO=$(${call("ReposService/CreateRepo", quote(`{"parent": "${organization.uid}", "repo": {"name": "second"}}`))} | ${pick(".uid")})`,
      call("ReposService/ListRepos", quote(list)),
      call("ReposService/GetRepo", `"{\\"uid\\": \\"$REPO\\"}"`),
      call(
        "ReposService/UpdateRepo",
        `"{\\"repo\\": {\\"uid\\": \\"$REPO\\", \\"description\\": \\"my second repo\\"}}"`,
      ),
      ...(clients.includes("grpcurl") ? [grpcurl] : []),
      call("ReposService/DeleteRepo", `"{\\"uid\\": \\"$REPO\\"}"`),
    ],
  };
}

function registryLines(input: HintsInput, layout: string, dataDirFlag: string): Section {
  const {
    config,
    bootstrap: { organization },
    clients,
  } = input;
  const url = config.registryUrl;
  const oci = clients.filter((client) => client !== "curl" && client !== "grpcurl");
  const image = `${organization.name}/hello`;
  const push = { config, layout, dataDirFlag };
  const others = oci.slice(1).flatMap((client) => pushLines(client, push, 1, `${image}-${client}:latest`));
  return {
    title: `3. The registry${oci.length > 0 ? "" : " (no OCI client found: moorage pushes a sample image itself)"}: push a build, push the next to the same tag, read the history`,
    lines: [
      ...(oci.length > 0 ? [`${OWN_COMMAND} sample --layout ${layout}`] : []),
      ...pushLines(oci[0], push, 1, `${image}:latest`),
      ...pushLines(oci[0], push, 2, `${image}:latest`),
      ...others,
      ...(clients.includes("curl")
        ? [
            `curl -sS -w '\\n' ${url}/v2/${image}/_service/history/latest -H "Authorization: Bearer $REGISTRY_TOKEN"`,
            `DIGEST=$(curl -sS ${url}/v2/${image}/_service/history/latest -H "Authorization: Bearer $REGISTRY_TOKEN" | ${pick(".history[0].digest")})`,
            `curl -sS -w '\\n' ${url}/v2/${image}/manifests/$DIGEST -H "Authorization: Bearer $REGISTRY_TOKEN"`,
          ]
        : []),
      ...(oci[0] === "skopeo" && clients.includes("curl")
        ? [
            `skopeo inspect${url.startsWith("http:") ? " --tls-verify=false" : ""} --creds "moorage:$TOKEN" docker://${config.registryAudience}/${image}@$DIGEST`,
          ]
        : []),
    ].map((line) => line.replaceAll("/_service/", `/${config.historySegments[0] ?? "_service"}/`)),
  };
}

function publicLines(input: HintsInput, layout: string, dataDirFlag: string): Section {
  const {
    config,
    bootstrap: { publicOrganization },
    clients,
  } = input;
  const image = `${publicOrganization.name}/hello`;
  const free = config.freeTierTags[0] ?? "latest";
  const push = { config, layout, dataDirFlag };
  const manifest = (tag: string): string =>
    `curl -sS -w '\\n' ${config.registryUrl}/v2/${image}/manifests/${tag} -H "Authorization: Bearer $ANONYMOUS"`;
  return {
    title: `4. A public image: anybody may pull ${free}, another of its tags is refused`,
    lines: [
      ...pushLines(clients[0], push, 1, `${image}:${free}`),
      ...pushLines(clients[0], push, 2, `${image}:nightly`),
      `ANONYMOUS=$(curl -sS "${config.registryUrl}/token?scope=repository:${image}:pull" | ${pick(".token")})`,
      manifest(free),
      manifest("nightly"),
    ],
  };
}

function exchangeLines({ config, bootstrap: { organization }, folder }: HintsInput): Section {
  const url = config.baseUrl;
  const inSource = existsSync(join(folder, PROVIDER_SCRIPT));
  if (!inSource) {
    return {
      title:
        "5. Token exchange: give an identity the issuer and subject of the tokens your provider issues, and trade such a token at /sts/exchange",
      lines: [],
    };
  }
  if (!config.allowPrivateNetwork) {
    return {
      title: "5. Token exchange: npm run demo plays it; to play it by hand, start with MOORAGE_ALLOW_PRIVATE_NETWORK=1",
      lines: [],
    };
  }
  const claimMatch = `{"issuer": "${PROVIDER_URL}", "subject": "robot", "audience": "${url}"}`;
  return {
    title:
      "5. Trade the token of another OpenID provider (one that runs here) for a platform token, with just the rights of its role",
    lines: [
      `node_modules/.bin/node ${PROVIDER_SCRIPT} ${PROVIDER_PORT} & PROVIDER=$!; sleep 3`,
      `EXTERNAL=$(curl -sS ${PROVIDER_URL}/token -u robot:robot-secret -d grant_type=client_credentials -d resource=${url} | ${pick(".access_token")})`,
      `ROBOT=$(curl -sS ${url}/iam/v2/identities/${organization.uid} ${BEARER} ${JSON_BODY} '{"name": "robot", "claimMatch": ${claimMatch}}' | ${pick(".uid")})`,
      `VIEWER=$(curl -sS "${url}/iam/v2/roles?name=viewer" ${BEARER} | ${pick(".roles[0].uid")})`,
      `curl -sS -w '\\n' ${url}/iam/v2/roleBindings/${organization.uid} ${BEARER} ${JSON_BODY} "{\\"identityUid\\": \\"$ROBOT\\", \\"roleUid\\": \\"$VIEWER\\"}"`,
      `EXCHANGED=$(curl -sS -X POST "${url}/sts/exchange?aud=${url}&identity=$ROBOT" -H "Authorization: Bearer $EXTERNAL" | ${pick(".token")})`,
      `curl -sS -w '\\n' ${url}/registry/v2/repos -H "Authorization: Bearer $EXCHANGED"`,
      `curl -sS -w '\\n' ${url}/registry/v2/repos/${organization.uid} -H "Authorization: Bearer $EXCHANGED" ${JSON_BODY} '{"name": "forbidden"}'`,
      `kill $PROVIDER`,
    ],
  };
}

/** The whole text, ending in a line feed. Lines of a section may use variables that earlier lines set. */
export function hints(input: HintsInput): string {
  const { config, bootstrap, clients, folder } = input;
  const dataDir = resolve(config.dataDir);
  const dataDirFlag = dataDir === resolve(folder, "data") ? "" : ` --data-dir ${quote(dataDir)}`;
  const layout = join(tmpdir(), "moorage-sample");
  const curl = clients.includes("curl");
  const sections = [
    tokenLines(folder, dataDirFlag),
    ...(curl ? [restLines(config.baseUrl, bootstrap.organization.uid)] : []),
    grpcLines(input, `--url ${config.baseUrl}${dataDirFlag}`),
    registryLines(input, layout, dataDirFlag),
    ...(curl
      ? [publicLines(input, layout, dataDirFlag), exchangeLines(input)]
      : [{ title: "4 and 5 want curl: npm run demo plays them without", lines: [] }]),
  ];
  const text = sections.map(({ title, lines }) => [`# ${title}`, ...lines].join("\n")).join("\n\n");
  return `\nMoorage answers at ${config.baseUrl}. What to try next, in another terminal, one line after another:\n\n${text}\n\n`;
}
