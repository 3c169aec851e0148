import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { MANIFEST, pushBlob, pushImage, send, tagImage } from "./registries.ts";
import type { Moorage } from "./moorage.ts";
import { rested } from "./rows-pull-events.ts";
import { type Bench, get, overHttp, type Row, type Section } from "./rows.ts";

const LOOK_MS = 100;
const LONGEST_MS = 60_000;

/**
 * Pulls of a signed image under an enforcing policy of signatures, and of the same where there is none. Under a policy
 * a pull asks the database whether the image may be judged in another way, on SQLite after a commit alone: see ADR 31.
 */
export async function signatureSection(bench: Bench): Promise<Section | undefined> {
  const {
    signed,
    engine,
    servers: [smallest],
  } = bench;
  if (signed === undefined || smallest === undefined) return undefined;
  const rowsOf = async (moorage: Moorage, how: string): Promise<Row[]> => {
    const repository = `${moorage.organization.name}/signed`;
    const { digest } = await pushImage(moorage, repository, "latest");
    if (moorage === signed) await requireSignatures(moorage, repository, digest);
    const paths = { "manifest by tag": "manifests/latest", "manifest by digest": `manifests/${digest}` };
    return Object.entries(paths).map(([what, path]) => {
      const pulled = overHttp(bench, moorage, () => [
        [get(`/v2/${repository}/${path}`, moorage.authorization, MANIFEST)],
      ]);
      return { title: `${what}, ${how}, ${engine}`, unit: "/s", measure: rested(moorage, pulled) };
    });
  };
  const without = await rowsOf(smallest.moorage, "without a signature policy");
  const under = await rowsOf(signed, "signed, under an enforcing signature policy");
  const rows = under.flatMap((row, at): Row[] => {
    const alone = without[at];
    return alone === undefined ? [] : [alone, { ...row, against: [{ title: alone.title }] }];
  });
  return { title: `signature policies, ${engine}`, rows };
}

/** Signs the image, waits until that is verified, and makes an enforcing policy that asks for it. */
async function requireSignatures(moorage: Moorage, repository: string, digest: string): Promise<void> {
  const { publicKey, privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const { platform, organization } = moorage;
  const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
  const signer = await create(platform, `/registry/v2/signers/${organization.uid}`, { name: "bench", keys: [{ pem }] });
  await pushSignature(moorage, repository, digest, privateKey);
  const list = await send(platform, "GET", `/registry/v2/repos?name=signed`);
  const { repos } = (await list.json()) as { repos: { uid: string }[] };
  const path = `/registry/v2/repos/${repos[0]?.uid}/digests/${digest}/signatures`;
  for (let leftMs = LONGEST_MS; ; leftMs -= LOOK_MS) {
    const answer = await (await send(platform, "GET", path)).text();
    if (answer.includes("SIGNATURE_STATE_TRUSTED")) break;
    if (leftMs <= 0) throw new Error(`the signature was not verified: ${answer.slice(0, 300)}`);
    await wait(LOOK_MS);
  }
  const rules = [{ name: "image", signers: [signer] }];
  const policy = { name: "bench", mode: "GATE_MODE_ENFORCE", on: ["SIGNATURE_ACTION_PULL"], rules };
  await create(platform, `/registry/v2/signaturePolicies/${organization.uid}`, policy);
}

async function create(platform: Moorage["platform"], path: string, body: object): Promise<string> {
  const content = Buffer.from(JSON.stringify(body));
  const { uid } = (await (await send(platform, "POST", path, { type: "application/json", content })).json()) as {
    uid: string;
  };
  return uid;
}

/** Pushes a signature as cosign 2 does. */
async function pushSignature(moorage: Moorage, repository: string, digest: string, key: KeyObject): Promise<void> {
  const payload = Buffer.from(
    JSON.stringify({
      critical: {
        identity: { "docker-reference": repository },
        image: { "docker-manifest-digest": digest },
        type: "cosign container image signature",
      },
      optional: null,
    }),
  );
  const signature = sign("sha256", payload, key).toString("base64");
  const config = {
    mediaType: "application/vnd.oci.image.config.v1+json",
    ...(await pushBlob(moorage, repository, Buffer.from("{}"))),
  };
  const layer = {
    mediaType: "application/vnd.dev.cosign.simplesigning.v1+json",
    ...(await pushBlob(moorage, repository, payload)),
    annotations: { "dev.cosignproject.cosign/signature": signature },
  };
  const manifest = Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType: MANIFEST, config, layers: [layer] }));
  await tagImage(moorage, repository, `${digest.replace(":", "-")}.sig`, manifest);
}
