import type { Platform } from "../../../server/test/support/platform.ts";

const DAY_MS = 86_400_000;
const GITHUB = "https://token.actions.githubusercontent.com";
// A public key of nobody: what it would sign is not known.
const KEY = {
  kty: "EC",
  crv: "P-256",
  x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
  y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
  kid: "k",
  alg: "ES256",
};

/** Machines of a CI, a pull token for each cluster and a push token. */
export async function fillMachines(platform: Platform): Promise<void> {
  const { organization } = platform;
  const made = async (role: string, fields: object): Promise<void> => {
    const { uid } = await platform.ok("POST", `/iam/v2/identities/${organization}`, fields);
    await platform.bind(organization, uid, await platform.role(role));
  };
  const password = (kind: "pull" | "push", name: string, days: number): Promise<void> =>
    made(`registry.${kind}`, {
      name,
      description: `${kind} token`,
      staticKeys: {
        issuer: `moorage-${kind}-token`,
        subject: `key of ${name}`,
        issuerKeys: JSON.stringify({ keys: [KEY] }),
        expirationTime: new Date(platform.clock.nowMs() + days * DAY_MS).toISOString(),
        audiences: [new URL(platform.url).host],
      },
    });
  await made("registry.push", {
    name: "release",
    description: "The release workflow of acme/shop",
    claimMatch: { issuer: GITHUB, subject: "repo:acme/shop:ref:refs/heads/main" },
  });
  await made("registry.pull", {
    name: "preview",
    description: "Pull requests of acme/shop",
    claimMatch: { issuer: GITHUB, subject: "repo:acme/shop:pull_request" },
  });
  await password("pull", "cluster-eu-west", 300);
  await password("pull", "cluster-us-east", 41);
  await password("push", "legacy-build-server", 20);
}
