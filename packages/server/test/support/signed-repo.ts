import type { Place } from "./catalog/place.ts";
import { pushLayers } from "./catalog/push.ts";
import type { Answer, Platform } from "./platform.ts";
import { cosignLayer, cosignPayload, pushCosign, type SigningKey, verifiedSignatures } from "./signing.ts";

/** What a rule of a policy says; the signers by their uids. */
export interface RuleFields {
  name?: string;
  signers: string[];
  [field: string]: unknown;
}

/** Makes a policy for pulls and promotions. Answers its uid. */
export async function newPolicy(
  platform: Platform,
  group: string,
  { rules, ...fields }: { rules: RuleFields[]; [field: string]: unknown },
): Promise<string> {
  policies += 1;
  const body = {
    name: `policy ${policies}`,
    mode: "GATE_MODE_ENFORCE",
    on: ["SIGNATURE_ACTION_PULL", "SIGNATURE_ACTION_PROMOTE"],
    rules: rules.map((rule, at) => ({ name: `rule ${at}`, ...rule })),
    ...fields,
  };
  return (await platform.ok("POST", `/registry/v2/signaturePolicies/${group}`, body)).uid;
}

/** So long a token for pulling is used again. */
const TOKEN_MS = 120_000;
let policies = 0;
let layers = 0;

/** A repo of a group of its own, and those who pull from it and push to it. */
export interface SignedRepo extends Place {
  group: string;
  /** Pushes another image as the tag. */
  push(tag: string): Promise<string>;
  /** Signs the digest as cosign 2 does, and waits until that is verified. */
  sign(digest: string, ...keys: SigningKey[]): Promise<string>;
  /** Asks for a manifest as somebody who may only pull. */
  pull(reference: string, method?: string): Promise<Answer>;
  /** The same as an identity with this role, by a token of the token endpoint for pulling alone. */
  pullAs(identity: string, reference: string, method?: string): Promise<Answer>;
}

/** `parent`: the group that its own one is made in, with the path of that. `name`: that of its own one. */
export async function openSignedRepo(
  platform: Platform,
  parent = platform.organization,
  path = platform.bootstrap.organization.name,
  name = `g${layers + 1}`,
): Promise<SignedRepo> {
  const { owner, url } = platform;
  const audience = new URL(url).host;
  layers += 1;
  const { uid: group } = await platform.group(parent, { name });
  const { uid: repo } = await platform.repo(group, { name: "app" });
  const viewer = await platform.identity(group, "viewer");
  const place = { url, repo, name: `${path}/${name}/app`, token: await platform.token(owner, { audience }) };
  // Who pulls again does so with the same token, by which answers are cached.
  const granted = new Map<string, { token: string; atMs: number }>();
  const tokenOf = async (identity: string): Promise<string> => {
    const known = granted.get(identity);
    const nowMs = platform.clock.nowMs();
    if (known !== undefined && Math.abs(nowMs - known.atMs) < TOKEN_MS) return known.token;
    const scope = encodeURIComponent(`repository:${place.name}:pull`);
    const { body } = await platform.call("GET", `/token?scope=${scope}`, { token: await platform.token(identity) });
    const token = String(body["token"]);
    granted.set(identity, { token, atMs: nowMs });
    return token;
  };
  const pullAs: SignedRepo["pullAs"] = async (identity, reference, method = "GET") =>
    await platform.call(method, `/v2/${place.name}/manifests/${reference}`, { token: await tokenOf(identity) });
  return {
    ...place,
    group,
    async push(tag) {
      layers += 1;
      const token = await platform.token(owner, { audience });
      return await pushLayers({ ...place, token }, tag, [Buffer.from(`layer ${layers}`)]);
    },
    async sign(digest, ...keys) {
      const token = await platform.token(owner, { audience });
      const signatures = keys.map((key) => cosignLayer(key, cosignPayload(digest)));
      const manifest = await pushCosign({ ...place, token }, digest, signatures);
      await verifiedSignatures(platform, place, digest, keys.length);
      return manifest;
    },
    pull: (reference, method) => pullAs(viewer, reference, method),
    pullAs,
  };
}
