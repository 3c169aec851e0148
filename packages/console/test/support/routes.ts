import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { newAdvisory } from "../../../server/test/support/advisories.ts";
import { pushImage } from "../../../server/test/support/image.ts";
import { publishNpm } from "../../../server/test/support/npm.ts";
import type { Platform } from "../../../server/test/support/platform.ts";
import { newKey } from "../../../server/test/support/signing.ts";

const PAGES = join(import.meta.dirname, "../../src/pages");

/** The paths of all routes, as the sources declare them. */
export function routePaths(): string[] {
  return globSync("**/{,*-}route{,s}.ts", { cwd: PAGES })
    .flatMap((file) => [...readFileSync(join(PAGES, file), "utf8").matchAll(/\bpath: "([^"]+)"/g)])
    .map(([, path = ""]) => path)
    .toSorted();
}

/** What each page that is about one thing is shown with, by its path: an installation with one of each. */
export async function placesOf(platform: Platform): Promise<Record<string, string>> {
  const first = await pushImage(platform, "acme/team-app", "1.2");
  const { organization, owner } = platform;
  const subscription = await platform.ok("POST", `/events/v2/subscriptions/${organization}`, {
    sink: "http://127.0.0.1:9/hook",
  });
  const { repos } = await platform.ok<{ repos: { uid: string }[] }>("GET", "/registry/v2/repos?name=team-app");
  const repo = repos[0]?.uid ?? "";
  // Its redirect URI is the longest text that a list shows as code.
  await platform.ok("POST", `/iam/v2/identityProviders/${organization}`, {
    name: "login",
    oidc: { issuer: "https://login.example.com", clientId: "moorage", clientSecret: "a secret of the client" },
  });
  const advisory = await newAdvisory(platform, organization, { artifactName: "acme/team-app" });
  await publishNpm(platform, "acme", "hello", "1.0.0");
  const { artifacts } = await platform.ok<{ artifacts: { uid: string }[] }>(
    "GET",
    "/libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVASCRIPT",
  );
  const signer = await platform.ok("POST", `/registry/v2/signers/${organization}`, {
    name: "release",
    keys: [{ pem: newKey().pem }],
  });
  const trustRoot = await platform.ok("POST", `/registry/v2/trustRoots/${organization}`, {
    name: "public",
    tuf: {
      url: "https://tuf.example.com",
      root: JSON.stringify({ signed: { _type: "root", version: 1 }, signatures: [] }),
    },
  });
  const policy = await platform.ok("POST", `/registry/v2/signaturePolicies/${organization}`, {
    name: "signed",
    on: ["SIGNATURE_ACTION_PULL"],
    rules: [{ name: "image", signers: [signer.uid] }],
  });
  const replication = await platform.ok("POST", `/registry/v2/replications/${organization}`, {
    name: "archive",
    destination: "registry.example.com/a-destination-with-a-long-name/archive",
    deletions: "REPLICATION_DELETIONS_FOLLOW",
  });
  const { uid: front } = await platform.group(organization, { name: "front" });
  const upstream = await platform.ok("POST", `/registry/v2/upstreams/${front}`, {
    registry: "registry.example.com",
    prefix: "a-beginning-of-names/that-is-long",
    follow: { repoPattern: "a-beginning-of-names/.*", exact: true },
    disabled: true,
  });
  await platform.ok("POST", `/registry/v2/quotas/${organization}`, { bytes: "1", tags: "100" });
  return {
    "/package": `?uid=${artifacts[0]?.uid ?? ""}`,
    "/repo": "?name=acme/team-app",
    "/repo/settings": "?name=acme/team-app",
    "/tag": "?name=acme/team-app:1.2",
    "/image": `?name=acme/team-app@${first}`,
    "/signatures/policy": `?uid=${policy.uid}`,
    "/signatures/signer": `?uid=${signer.uid}`,
    "/signatures/trust-root": `?uid=${trustRoot.uid}`,
    "/images/replication": `?uid=${replication.uid}`,
    "/images/upstream": `?uid=${upstream.uid}`,
    "/compare": `?from=acme/team-app:1.2&to=acme/team-app:1.2&repo=${repo}`,
    "/vulnerability": "?id=CVE-2026-0001",
    "/advisory": `?uid=${advisory.uid}`,
    "/events/subscription": `?uid=${subscription.uid}`,
    "/access/group": `?uid=${organization}`,
    "/access/identity": `?uid=${owner}`,
    "/access/role": `?uid=${await platform.role("viewer")}`,
  };
}
