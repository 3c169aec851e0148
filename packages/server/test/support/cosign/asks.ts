import type { KeyName, Row, Signing } from "./rows.ts";

/** Signs a digest of the repo with a key. */
type Sign = (signing: Signing, digest?: string) => Promise<unknown>;

const HERE = "--allow-http-registry";
export const HASH = "--signature-digest-algorithm";
/** No log, time stamp or authority: only the key. */
const BUNDLE = ["--signing-config", "signing.json", "--trusted-root", "root.json", HERE];
const TAG = ["--use-signing-config=false", "--new-bundle-format=false", "--tlog-upload=false", HERE];

const by = (key: KeyName): string[] => ["--key", `${key}.key`];

/** Cosign 3 signs, as a referrer. */
export const asBundle =
  (key: KeyName, ...flags: string[]): Sign =>
  ({ cosign, at, digest }, of = digest) =>
    cosign.do("cosign", "sign", ...by(key), ...BUNDLE, ...flags, at(of));

/** Cosign 3 signs in the form of cosign 2: a tag named after the image's digest. */
export const asTag =
  (key: KeyName, ...flags: string[]): Sign =>
  ({ cosign, at, digest }, of = digest) =>
    cosign.do("cosign", "sign", ...by(key), ...TAG, ...flags, at(of));

/** Cosign 2 signs. */
export const byCosign2 =
  (key: KeyName, ...flags: string[]): Sign =>
  ({ cosign, at, digest }, of = digest) =>
    cosign.do("cosign2", "sign", ...by(key), "--tlog-upload=false", HERE, ...flags, at(of));

/** The two forms of a signature by cosign. */
export const FORMS = { tag: asTag, bundle: asBundle } as const;
export type Form = keyof typeof FORMS;

/** Cosign 3 attests a predicate, which is in a file. */
export const attest =
  (key: KeyName, form: Form, type: string, predicate: object): Sign =>
  ({ cosign, at, digest }, of = digest) => {
    cosign.file("predicate.json", JSON.stringify(predicate));
    const flags = form === "tag" ? TAG : BUNDLE;
    return cosign.do("cosign", "attest", ...by(key), ...flags, "--predicate", "predicate.json", "--type", type, at(of));
  };

/** What cosign signs with by default, and verifies only when it is called so: the hash of the curve. */
const HASHES: Partial<Record<KeyName, string>> = { p384: "sha384", p521: "sha512" };

const asked = (command: string, key: KeyName, flags: readonly string[]): string[] => {
  const hash = HASHES[key];
  const byHash = hash === undefined || flags.includes(HASH) ? [] : [HASH, hash];
  return [command, "--key", `${key}.pub`, "--insecure-ignore-tlog", HERE, ...byHash, ...flags];
};

/** Asks cosign for a signature by the key. */
export const verify = (key: KeyName, ...flags: string[]): string[] => asked("verify", key, flags);

/** Asks cosign for an attestation by the key. */
export const verifyAttestation = (key: KeyName, type: string): string[] =>
  asked("verify-attestation", key, ["--type", type]);

/** A row that both answer alike. */
export const agree = (
  id: string,
  what: string,
  answer: boolean,
  row: Pick<Row, "attach" | "signer" | "ask"> & Partial<Row>,
): Row => ({
  id,
  what,
  cosign: answer,
  registry: answer,
  ...row,
});
/** A row on which they differ. */
export const differ = (
  id: string,
  what: string,
  why: string,
  row: Pick<Row, "attach" | "signer" | "ask" | "cosign"> & Partial<Row>,
): Row => ({
  id,
  what,
  why,
  registry: !row.cosign,
  ...row,
});
