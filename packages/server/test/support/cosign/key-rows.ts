// Which key has signed: its kind, its times, and how many there are.
import { cosignLayer, cosignPayload, pushCosign } from "../signing.ts";
import { agree, asBundle, asTag, byCosign2, differ, FORMS, type Form, HASH, verify } from "./asks.ts";
import type { KeyName, Row } from "./rows.ts";

const KINDS: readonly KeyName[] = ["p256", "p384", "p521", "rsa2048", "rsa4096"];
const LAST_YEAR = new Date(Date.now() - 365 * 86_400_000).toISOString();

const kinds = KINDS.flatMap((key) =>
  (Object.keys(FORMS) as Form[]).map((form) =>
    agree(`${key}-${form}`, `signed with ${key}, as a ${form}`, true, {
      attach: FORMS[form](key),
      signer: { keys: [key] },
      ask: verify(key),
    }),
  ),
);

export const KEY_ROWS: readonly Row[] = [
  ...kinds,
  differ(
    "p384-default",
    "signed with P-384, verified without saying with which hash",
    "cosign signs with the hash of the curve and verifies with SHA-256 unless it is called with another one; the registry takes both",
    {
      attach: asBundle("p384"),
      signer: { keys: ["p384"] },
      ask: verify("p384", HASH, "sha256"),
      cosign: false,
    },
  ),
  agree("ed25519", "a signature with Ed25519", true, {
    attach: ({ repo, digest, keys }) => pushCosign(repo, digest, [cosignLayer(keys.ed25519, cosignPayload(digest))]),
    signer: { keys: ["ed25519"] },
    ask: verify("ed25519"),
  }),
  agree("ed25519-prehashed", "signed with Ed25519 by cosign 3, which hashes before, and verifies that neither", false, {
    attach: asTag("ed25519"),
    signer: { keys: ["ed25519"] },
    ask: verify("ed25519"),
  }),
  agree("ed25519-cosign2", "the same by cosign 2", false, {
    attach: byCosign2("ed25519"),
    signer: { keys: ["ed25519"] },
    ask: verify("ed25519"),
  }),
  agree("cosign2-tag", "signed by cosign 2, which verifies it", true, {
    attach: byCosign2("p256"),
    signer: { keys: ["p256"] },
    program: "cosign2",
    ask: verify("p256"),
  }),
  agree("cosign2-3", "signed by cosign 2, verified by cosign 3", true, {
    attach: byCosign2("rsa2048"),
    signer: { keys: ["rsa2048"] },
    ask: verify("rsa2048"),
  }),
  agree("cosign2-bundle", "signed by cosign 2 as a bundle, verified by cosign 3", true, {
    attach: byCosign2("p256", "--new-bundle-format"),
    signer: { keys: ["p256"] },
    ask: verify("p256"),
  }),
  agree("cosign2-by-3", "signed by cosign 3 as a tag, verified by cosign 2", true, {
    attach: asTag("p256"),
    signer: { keys: ["p256"] },
    program: "cosign2",
    ask: verify("p256"),
  }),
  agree("other-tag", "signed with another key, as a tag", false, {
    attach: asTag("other"),
    signer: { keys: ["p256"] },
    ask: verify("p256"),
  }),
  agree("other-bundle", "signed with another key, as a bundle", false, {
    attach: asBundle("other"),
    signer: { keys: ["p256"] },
    ask: verify("p256"),
  }),
  agree("unsigned", "not signed", false, { attach: async () => {}, signer: { keys: ["p256"] }, ask: verify("p256") }),
  agree("two-of-two", "signed with two keys, of which both are asked for", true, {
    attach: async (signing) => {
      await asBundle("p256")(signing);
      await asBundle("old")(signing);
    },
    signer: { keys: ["p256", "old"] },
    rule: { threshold: 2 },
    ask: verify("old"),
  }),
  agree("rotated-beside", "signed with the old key, beside which the signer has a new one", true, {
    attach: asBundle("old"),
    signer: { keys: ["p256", "old"] },
    ask: verify("old"),
  }),
  agree("rotated-away", "signed with the old key, in whose place the signer has a new one", false, {
    attach: asBundle("old"),
    signer: { keys: ["p256"] },
    ask: verify("p256"),
  }),
  differ(
    "key-revoked",
    "signed with a key that the signer has revoked",
    "cosign is given a key, and knows no time from which on somebody else may have it",
    {
      attach: asBundle("p256"),
      signer: { keys: [{ key: "p256", revokeTime: LAST_YEAR }] },
      ask: verify("p256"),
      cosign: true,
    },
  ),
  differ("key-ended", "signed with a key after its end", "cosign is given a key, and knows no end of it", {
    attach: asTag("p256"),
    signer: { keys: [{ key: "p256", notAfter: LAST_YEAR }] },
    ask: verify("p256"),
    cosign: true,
  }),
  differ(
    "one-of-two",
    "signed twice with one key, where two are asked for",
    "cosign is asked about one key at a time, and counts nothing",
    {
      attach: async (signing) => {
        await asBundle("p256")(signing);
        await asTag("p256")(signing);
      },
      signer: { keys: ["p256", "old"] },
      rule: { threshold: 2 },
      ask: verify("p256"),
      cosign: true,
    },
  ),
];
