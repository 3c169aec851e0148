import { createHash } from "node:crypto";
import { SignatureState } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import { ancestorsOf } from "@moorage/kernel/lib/uid";
import { type Database, select } from "@moorage/kernel/store";
import { DSSE, IN_TOTO } from "../attached/formats.ts";
import { NO_SIGNERS } from "./compile.ts";
import { factsOf } from "./facts.ts";
import { policiesOf, signersIn } from "./in-force.ts";
import type { CompiledPolicy, SignatureFact, SignedManifest } from "./types.ts";

/** A policy that says whose SBOMs and VEX documents count. */
export type DocumentPolicy = CompiledPolicy & { documentSigners: readonly string[] };

/** A manifest that is attached to an image. `via`: empty for a referrer, else a tag, or the index that names both. */
export interface AttachedManifest {
  manifest: string;
  via: string;
}

/** What of a manifest is signed as one policy asks. `layers`: undefined for all of them, else their numbers. */
export interface SignedLayers {
  policy: DocumentPolicy;
  layers: ReadonlySet<number> | undefined;
  /** Why not all of it is, in words. */
  reason: string;
}

/** The policies of the groups above a repo that say whose documents count in it, enforced or in preview. */
export async function documentPoliciesOf(tx: Database, repo: string, nowMs: number): Promise<DocumentPolicy[]> {
  const groups = ancestorsOf(repo);
  const some = await select(
    tx,
    `select 1 from signature_policies where parent in (${groups.map(() => "?").join(", ")}) and document_signers <> '${NO_SIGNERS}' limit 1`,
    groups,
  );
  if (some.length === 0) return [];
  const { policies, path } = await policiesOf(tx, repo, nowMs);
  return policies.filter((each): each is DocumentPolicy => each.documentSigners !== undefined && each.coversRepo(path));
}

/** A text that is the same as long as the policies ask the same; empty for none. */
export function askedBy(policies: readonly DocumentPolicy[]): string {
  if (policies.length === 0) return "";
  const said = policies.map(({ uid, documentSigners, problem }) => [uid, documentSigners, problem]);
  return createHash("sha256").update(JSON.stringify(said)).digest("hex").slice(0, 32);
}

/**
 * What of these manifests, which are attached to the subject, is signed as each of the policies asks, by the manifest;
 * and until when the same holds if nothing but the time changes, Infinity for good.
 */
export async function judgeDocuments(
  tx: Database,
  {
    repo,
    subject,
    attached,
    policies,
    nowMs,
  }: {
    repo: string;
    subject: string;
    attached: readonly AttachedManifest[];
    policies: readonly DocumentPolicy[];
    nowMs: number;
  },
): Promise<{ of: ReadonlyMap<string, readonly SignedLayers[]>; untilMs: number }> {
  const signers = await signersIn(tx, [...new Set(policies.flatMap(({ documentSigners }) => documentSigners))]);
  const names = new Map(signers.map(({ uid, name }) => [uid, name]));
  const manifests = attached.map(({ manifest }) => manifest);
  const indexes = attached.map(({ via }) => via).filter(isDigest);
  const digests = [...new Set([subject, ...manifests, ...indexes])];
  const signed = await factsOf(tx, { repo, digests, signers, nowMs });
  const own = await contentsOf(tx, repo, manifests);
  const of = new Map(
    attached.map(({ manifest, via }) => {
      const known = { manifest, via, subject, signed, content: own.get(manifest) };
      return [manifest, policies.map((policy) => signedLayers(policy, known, names))];
    }),
  );
  const ends = [...signed.values()].flatMap(({ facts }) => facts.flatMap(({ untilMs }) => untilMs ?? []));
  return { of, untilMs: Math.min(Infinity, ...ends) };
}

/** The layers that are signed as all of the policies ask; undefined for all of them. */
export function layersSigned(found: readonly Pick<SignedLayers, "layers">[]): ReadonlySet<number> | undefined {
  const [first, ...more] = found.flatMap(({ layers }) => layers ?? []);
  if (first === undefined) return undefined;
  return new Set([...first].filter((layer) => more.every((each) => each.has(layer))));
}

interface Known extends AttachedManifest {
  subject: string;
  signed: ReadonlyMap<string, SignedManifest>;
  content: ManifestContents | undefined;
}

function signedLayers(policy: DocumentPolicy, known: Known, names: ReadonlyMap<string, string>): SignedLayers {
  const { manifest, via, subject, signed, content } = known;
  const factsAbout = (digest: string): SignatureFact[] =>
    (signed.get(digest)?.facts ?? []).filter(({ signer }) => policy.documentSigners.includes(signer));
  const isTrusted = ({ state }: SignatureFact): boolean => state === SignatureState.TRUSTED;
  const isSigned = (digest: string): boolean =>
    factsAbout(digest).some((fact) => isTrusted(fact) && fact.predicateType === "");
  if (policy.problem === undefined && content !== undefined) {
    // A manifest that is not a referrer says nothing of what it is about: whoever may push attaches it to any image.
    if (isSigned(manifest) && content.subject === subject) return { policy, layers: undefined, reason: "" };
    // An index that is signed says which of its manifests is about which image.
    if (isDigest(via) && isSigned(via)) return { policy, layers: undefined, reason: "" };
  }
  const layers = factsAbout(subject)
    .filter((fact) => fact.manifest === manifest && fact.predicateType !== "" && isTrusted(fact))
    .map(({ layer }) => layer);
  if (content !== undefined && isSigned(manifest)) layers.push(...content.statements);
  const all = policy.problem === undefined ? layers : [];
  return { policy, layers: new Set(all), reason: reasonOf(policy, known, names) };
}

function reasonOf(policy: DocumentPolicy, known: Known, names: ReadonlyMap<string, string>): string {
  const { name, group, problem, documentSigners } = policy;
  const asked = `policy ${name}${group === "" ? "" : ` (${group})`}`;
  if (problem !== undefined) return `${asked} lets no document count: ${problem}`;
  const { manifest, subject, signed } = known;
  const about = [signed.get(manifest), signed.get(subject)];
  const facts = [
    ...(about[0]?.facts ?? []),
    ...(about[1]?.facts ?? []).filter((fact) => fact.manifest === manifest && fact.predicateType !== ""),
  ].filter(({ signer }) => documentSigners.includes(signer));
  const why = facts.find(({ state }) => state !== SignatureState.TRUSTED)?.reason;
  const waits = about.some((each) => each?.waits === true || (each?.waitsFor.size ?? 0) > 0);
  const who = documentSigners.map((uid) => names.get(uid) ?? "a signer that is gone").join(" or ");
  const said = why === undefined ? "" : `: ${why}`;
  return `not signed as ${asked} asks: by ${who}${waits ? "; signatures wait to be verified" : said}`;
}

interface ManifestContents {
  /** What it is a referrer of; empty when it is none. */
  subject: string;
  /** The numbers of its layers that are statements, each of which names what it is about. */
  statements: readonly number[];
}

const CHUNK = 500;
const STATEMENTS: ReadonlySet<unknown> = new Set([IN_TOTO, DSSE]);

async function contentsOf(
  tx: Database,
  repo: string,
  manifests: readonly string[],
): Promise<Map<string, ManifestContents>> {
  const found = new Map<string, ManifestContents>();
  for (let at = 0; at < manifests.length; at += CHUNK) {
    const some = manifests.slice(at, at + CHUNK);
    const rows = await select<{ digest: string; subject: string | null; content: Uint8Array }>(
      tx,
      `select digest, subject, content from manifests where repo = ? and digest in (${some.map(() => "?").join(", ")})`,
      [repo, ...some],
    );
    for (const { digest, subject, content } of rows)
      found.set(digest, { subject: subject ?? "", statements: statementsIn(content) });
  }
  return found;
}

function statementsIn(content: Uint8Array): number[] {
  const { layers } = JSON.parse(Buffer.from(content).toString()) as { layers?: unknown };
  if (!Array.isArray(layers)) return [];
  return [...layers.entries()].flatMap(([n, layer]) =>
    isObject(layer) && STATEMENTS.has(layer["mediaType"]) ? [n] : [],
  );
}

function isDigest(via: string): boolean {
  return via.includes(":");
}
