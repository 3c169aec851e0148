import { SignatureCode, SignatureState } from "@moorage/api/messages";
import type { Row } from "@moorage/kernel/store";
import { READING_STATE } from "../command-options.ts";
import type { AttachedManifest, KnownSigner } from "./read.ts";

/** What a signature is worth, or why that is not known. */
export interface Worth {
  state: SignatureState;
  code: SignatureCode;
  reason: string;
}

/** The same by one signer, since when and until when where that is known, in milliseconds since 1970. */
export interface SignerWorth extends Worth {
  signer: string;
  name: string;
  fingerprint: string;
  fromMs?: number;
  untilMs?: number;
}

const NOT_READ: Worth = {
  state: SignatureState.WAITING,
  code: SignatureCode.NOT_READ,
  reason: "it waits to be verified",
};
const NO_SIGNER: Worth = {
  state: SignatureState.UNTRUSTED,
  code: SignatureCode.NO_SIGNER,
  reason: "no group above has a signer: moorage signers create",
};
const OTHER_SIGNER: Worth = {
  state: SignatureState.UNTRUSTED,
  code: SignatureCode.OTHER_SIGNER,
  reason: "the signer has not made it",
};

/** Which states say more of a signature, the first ones most. */
const ORDER: readonly SignatureState[] = [
  SignatureState.TRUSTED,
  SignatureState.WAITING,
  SignatureState.REVOKED,
  SignatureState.EXPIRED,
  SignatureState.UNTRUSTED,
];

/** What is wrong with all of a manifest as of a time; undefined when its signatures are known. */
export function manifestWorth({ reading }: Pick<AttachedManifest, "reading">, atMs: number): Worth | undefined {
  const firstMs = reading?.first_time ?? Infinity;
  if (firstMs <= atMs && reading?.state !== READING_STATE.failed) return undefined;
  if (reading?.state !== READING_STATE.failed) return NOT_READ;
  return { state: SignatureState.INVALID, code: SignatureCode.UNREADABLE, reason: reading.reason };
}

/** What a signature is worth by each signer as of a time, and in all. */
export function entryWorth(
  { reading, verdicts }: AttachedManifest,
  entry: Row<"signature_entries">,
  signers: readonly KnownSigner[],
  atMs: number,
): Worth & { by: SignerWorth[] } {
  const wrong = faultOf(entry);
  const judged = judgedBy(reading);
  const there = signers.filter(({ createMs }) => createMs <= atMs);
  const by = there.map((signer): SignerWorth => {
    const about = { signer: signer.uid, name: signer.name, fingerprint: "" };
    const row = verdicts.find((each) => each.n === entry.n && each.signer === signer.uid);
    if (wrong !== undefined) return { ...about, ...wrong };
    const [version, sinceMs = Infinity] = judged[signer.uid] ?? [];
    // What was found before the signer changed is not what it says now.
    const isJudged = version === signer.version;
    if (row !== undefined && (isJudged || atMs < sinceMs)) return { ...about, ...worthOf(row) };
    return { ...about, ...(isJudged && sinceMs <= atMs ? OTHER_SIGNER : NOT_READ) };
  });
  const gone = verdicts.filter((row) => row.n === entry.n && !signers.some(({ uid }) => uid === row.signer));
  return {
    ...(wrong ?? best(by)),
    by: [...by, ...gone.map((row) => ({ signer: row.signer, name: "", ...worthOf(row) }))],
  };
}

type Fault = Pick<Row<"signature_entries">, "code" | "reason">;

/** What a verdict on a signature is worth that was made by what its signer says now. */
export function verdictWorth(entry: Fault, row: Row<"signature_verdicts">): Worth {
  return faultOf(entry) ?? worthOf(row);
}

/** Against which version of each signer the manifest was verified, and since when. */
export function judgedBy(
  reading: Pick<Row<"signature_readings">, "signers"> | undefined,
): Readonly<Record<string, [version: string, sinceMs: number]>> {
  return JSON.parse(reading?.signers ?? "{}") as Record<string, [version: string, sinceMs: number]>;
}

/** What is wrong with a signature whoever made it. */
function faultOf({ code, reason }: Fault): Worth | undefined {
  if (code === SignatureCode.UNSPECIFIED) return undefined;
  // Not verified is not the same as wrong.
  const state = code === SignatureCode.UNKNOWN_FORMAT ? SignatureState.UNTRUSTED : SignatureState.INVALID;
  return { state, code: code as SignatureCode, reason };
}

type OwnWorth = Omit<SignerWorth, "signer" | "name">;

function worthOf({ state, code, reason, fingerprint, from_time, until_time }: Row<"signature_verdicts">): OwnWorth {
  const worth = { state: state as SignatureState, code: code as SignatureCode, reason };
  return { ...worth, fingerprint, fromMs: from_time, ...(until_time !== null && { untilMs: until_time }) };
}

/** The verdict that says most in favor of the signature, without its signer. */
function best(by: readonly SignerWorth[]): Worth {
  const [first] = by.toSorted((one, other) => ORDER.indexOf(one.state) - ORDER.indexOf(other.state));
  if (first === undefined) return NO_SIGNER;
  const { state, code, reason } = first;
  return code === SignatureCode.OTHER_SIGNER
    ? { state, code, reason: "none of the signers has made it" }
    : { state, code, reason };
}
