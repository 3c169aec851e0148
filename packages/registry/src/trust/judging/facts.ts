import { SignatureState } from "@moorage/api/messages";
import { type Database, type Row, select } from "@moorage/kernel/store";
import type { Claims } from "../claims/claims.ts";
import { judgedBy, manifestWorth, verdictWorth } from "../signatures/judge.ts";
import type { KnownSigner } from "../signatures/read.ts";
import type { SignatureFact, SignedManifest } from "./types.ts";

/** A signer that policies name. */
export interface NamedSigner extends KnownSigner {
  /** Whether it is an identity: each of its signatures has another key. */
  isKeyless: boolean;
}

interface VerdictRow extends Row<"signature_verdicts"> {
  format: number;
  predicate_type: string;
  identity: string;
  signed_time: number | null;
  time_source: number;
  entry_code: number;
  entry_reason: string;
  claims?: string | null;
}

type Reading = Row<"signature_readings">;

/**
 * What is known of the signatures that are attached to these manifests of a repo, by these signers: what
 * ListImageSignatures answers of them, read for many manifests together.
 */
export async function factsOf(
  tx: Database,
  {
    repo,
    digests,
    signers,
    nowMs,
    readsClaims = false,
  }: {
    repo: string;
    digests: readonly string[];
    signers: readonly NamedSigner[];
    nowMs: number;
    /** Whether some rule asks for what was signed says. */
    readsClaims?: boolean;
  },
): Promise<Map<string, SignedManifest>> {
  // Before what is attached: where it is looked at between the two, it waits still, instead of not being there.
  const checks = await rowsIn<{ digest: string }>(
    tx,
    "select distinct digest from signature_checks where repo = ? and digest in",
    [repo],
    digests,
  );
  const waiting = new Set(checks.map(({ digest }) => digest));
  const sources = await rowsIn<{ subject: string; manifest: string }>(
    tx,
    "select subject, manifest from signature_sources where until_time is null and repo = ? and subject in",
    [repo],
    digests,
  );
  const subjects = [...new Set(sources.map(({ subject }) => subject))];
  const readings = new Map(
    (await rowsIn<Reading>(tx, "select * from signature_readings where subject in", [], subjects)).map((row) => [
      `${row.subject} ${row.manifest}`,
      row,
    ]),
  );
  const verdicts = Map.groupBy(
    await verdictsOf(tx, { subjects, signers, nowMs, readsClaims }),
    (row) => `${row.subject} ${row.manifest}`,
  );
  const attached = Map.groupBy(sources, ({ subject }) => subject);
  return new Map(
    digests.map((digest) => {
      const manifests = (attached.get(digest) ?? []).map(({ manifest }) => {
        const key = `${digest} ${manifest}`;
        return { manifest, reading: readings.get(key), verdicts: verdicts.get(key) ?? [] };
      });
      return [digest, signedManifest(digest, manifests, { signers, nowMs, waits: waiting.has(digest) })];
    }),
  );
}

interface Attached {
  manifest: string;
  reading: Reading | undefined;
  verdicts: readonly VerdictRow[];
}

function signedManifest(
  digest: string,
  manifests: readonly Attached[],
  { signers, nowMs, waits }: { signers: readonly NamedSigner[]; nowMs: number; waits: boolean },
): SignedManifest {
  const facts: SignatureFact[] = [];
  const unread: string[] = [];
  const waitsFor = new Set<string>();
  let isWaiting = waits;
  for (const { manifest, reading, verdicts } of manifests) {
    const whole = manifestWorth({ reading }, nowMs);
    if (whole?.state === SignatureState.WAITING) isWaiting = true;
    else if (whole !== undefined) unread.push(`${manifest.slice(0, 19)}: ${whole.reason}`);
    if (whole !== undefined) continue;
    const judged = judgedBy(reading);
    const [known, changed] = [new Map<string, NamedSigner>(), waitsFor];
    for (const signer of signers)
      if (judged[signer.uid]?.[0] === signer.version) known.set(signer.uid, signer);
      else changed.add(signer.uid);
    for (const row of verdicts) {
      const signer = known.get(row.signer);
      if (signer === undefined) continue;
      const fact = factIn(row, signer);
      facts.push(fact);
      // It is verified as far as it can be: somebody else has not answered yet.
      if (fact.state === SignatureState.WAITING) waitsFor.add(signer.uid);
    }
  }
  return { digest, facts, unread, waitsFor, waits: isWaiting };
}

/** The verdict as a fact: what ListImageSignatures answers of it. */
function factIn(row: VerdictRow, { isKeyless }: NamedSigner): SignatureFact {
  const { entry_code: code, entry_reason, fingerprint, identity } = row;
  const { state, reason } = verdictWorth({ code, reason: entry_reason }, row);
  return {
    manifest: row.manifest,
    layer: row.n,
    signer: row.signer,
    key: isKeyless ? `identity ${identity === "" ? row.signer : identity}` : fingerprint,
    predicateType: row.predicate_type,
    state,
    reason,
    ...(row.signed_time !== null && { signedMs: row.signed_time }),
    ...(row.until_time !== null && { untilMs: row.until_time }),
    ...claimsIn(row),
  };
}

/** Empty for what was verified before claims were kept, and where they were not read. */
function claimsIn({ claims }: VerdictRow): { claims?: Claims } {
  return claims === undefined || claims === null || claims === "" ? {} : { claims: JSON.parse(claims) as Claims };
}

async function verdictsOf(
  tx: Database,
  {
    subjects,
    signers,
    nowMs,
    readsClaims,
  }: { subjects: readonly string[]; signers: readonly NamedSigner[]; nowMs: number; readsClaims: boolean },
): Promise<VerdictRow[]> {
  if (signers.length === 0) return [];
  return await rowsIn<VerdictRow>(
    tx,
    `select v.*, e.format, e.predicate_type, e.identity, e.signed_time, e.time_source, e.code as entry_code, e.reason as entry_reason${readsClaims ? ", e.claims" : ""}
     from signature_verdicts as v join signature_entries as e on e.subject = v.subject and e.manifest = v.manifest and e.n = v.n
     where v.signer in (${signers.map(() => "?").join(", ")}) and v.from_time <= ? and (v.until_time is null or v.until_time > ?) and v.subject in`,
    [...signers.map(({ uid }) => uid), nowMs, nowMs],
    subjects,
  );
}

const CHUNK = 500;

/** The rows of a statement that ends with `in`, for these values. */
async function rowsIn<R>(
  tx: Database,
  text: string,
  parameters: readonly (string | number)[],
  values: readonly string[],
): Promise<R[]> {
  const found: R[] = [];
  for (let at = 0; at < values.length; at += CHUNK) {
    const some = values.slice(at, at + CHUNK);
    found.push(...(await select<R>(tx, `${text} (${some.map(() => "?").join(", ")})`, [...parameters, ...some])));
  }
  return found;
}
