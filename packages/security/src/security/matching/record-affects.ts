import { isObject } from "@moorage/kernel/lib/json";
import type { FeedFormat } from "../records/formats.ts";
import { type Affected, type CompiledAffected, compileAffected, isAffected } from "./affected-ranges.ts";
import { packageKey, type PackageLookup, type RecordPackage, versionOrder } from "./package-keys.ts";

/** What is known of a fix. WONT_FIX: whoever makes the package has decided against one. */
export type FixState = "FIXED" | "NOT_FIXED" | "WONT_FIX";

/** What a record says about the packages under one key, as plain JSON. */
export interface RecordAffects {
  affected: CompiledAffected;
  /** Where no version fixes it. */
  unfixed: Exclude<FixState, "FIXED">;
}

/** What a record says about one package. Versions are in their order. */
export interface Hit {
  state: FixState;
  /** The versions that fix it. */
  fixed: string[];
  /** The last affected versions, of ranges that end with these in place of a fix. */
  lastAffected: string[];
}

/** The formats whose records say which packages are affected. */
export const MATCHED_FORMATS = ["osv", "alpine-secdb", "debian-tracker"] as const satisfies readonly FeedFormat[];

/**
 * Which packages the content of a record affects, by the keys of `packageKey`; empty for formats that say nothing about
 * packages. `body` is what the format's reader stored.
 */
export function recordAffects(format: string, body: string): Map<string, RecordAffects[]> {
  const found = new Map<string, RecordAffects[]>();
  for (const { of, affected, unfixed } of entriesOf(format, body)) {
    const key = packageKey(of);
    const order = key === undefined ? undefined : versionOrder(key);
    if (key === undefined || order === undefined) continue;
    const entry = { affected: compileAffected(order, affected), unfixed };
    found.set(key, [...(found.get(key) ?? []), entry]);
  }
  return found;
}

/** Whether the record affects a package with these look-ups, and how that ends. Undefined when it does not. */
export function hitOf(
  affects: ReadonlyMap<string, readonly RecordAffects[]>,
  lookups: readonly PackageLookup[],
): Hit | undefined {
  const hits = lookups.flatMap(({ key, version }) =>
    (affects.get(key) ?? []).flatMap(({ affected, unfixed }) => {
      const { isAffected: isHit, fixed, lastAffected } = isAffected(affected, version);
      return isHit ? [{ fixed, lastAffected, unfixed }] : [];
    }),
  );
  if (hits.length === 0) return undefined;
  const fixed = [...new Set(hits.flatMap((hit) => hit.fixed))];
  const unfixed = hits.every((hit) => hit.unfixed === "WONT_FIX") ? "WONT_FIX" : "NOT_FIXED";
  return {
    state: fixed.length > 0 ? "FIXED" : unfixed,
    fixed,
    lastAffected: [...new Set(hits.flatMap((hit) => hit.lastAffected))],
  };
}

/** What a record says about one package. */
export interface Entry {
  of: RecordPackage;
  affected: Affected;
  unfixed: RecordAffects["unfixed"];
}

/** What a record says of each of its packages; empty for formats that say nothing about packages. */
export function entriesOf(format: string, body: string): Entry[] {
  if (format === "osv") return osvEntries(JSON.parse(body) as OsvBody);
  if (format === "alpine-secdb") return alpineEntries(JSON.parse(body) as AlpineBody);
  if (format === "debian-tracker") return debianEntries(JSON.parse(body) as DebianBody);
  return [];
}

interface OsvBody {
  affected?: (Affected & { package?: RecordPackage })[] | null;
}

function osvEntries({ affected }: OsvBody): Entry[] {
  return (affected ?? []).flatMap(({ package: of, ...each }) =>
    of === undefined ? [] : [{ of, affected: each, unfixed: "NOT_FIXED" }],
  );
}

/** A version that is older than one of the fixes is affected. A fix `0` says that the package never was. */
function alpineEntries({ release, package: name, fixed }: AlpineBody): Entry[] {
  const ranges = fixed.filter((version) => version !== "0").map((version) => endingAt({ fixed: version }));
  return [{ of: { ecosystem: `Alpine:${release}`, name }, affected: { ranges }, unfixed: "NOT_FIXED" }];
}

interface DebianBody {
  package: string;
  releases: Record<string, { status?: unknown; fixed_version?: unknown; nodsa_reason?: unknown }>;
}

/**
 * A fix `0` says that the release never was affected. `undetermined`, that nobody knows whether it is, is no finding.
 * Source: https://security-team.debian.org/security_tracker.html.
 */
function debianEntries({ package: name, releases }: DebianBody): Entry[] {
  return Object.entries(releases).flatMap(([release, state]): Entry[] => {
    if (!isObject(state)) return [];
    const { status, fixed_version: fixed, nodsa_reason: reason } = state;
    const isFixed = status === "resolved" && typeof fixed === "string" && fixed !== "0";
    const ranges = isFixed ? [endingAt({ fixed })] : status === "open" ? [endingAt()] : [];
    const unfixed = reason === "ignored" ? "WONT_FIX" : "NOT_FIXED";
    return [{ of: { ecosystem: `Debian:${release}`, name }, affected: { ranges }, unfixed }];
  });
}

function endingAt(...ends: { fixed: string }[]): NonNullable<Affected["ranges"]>[number] {
  return { type: "ECOSYSTEM", events: [{ introduced: "0" }, ...ends] };
}

/** What is stored of each package and vulnerability. A `fixed` of `0` says that the package never was vulnerable. */
export interface AlpineBody {
  /** Such as `v3.20` or `edge`. */
  release: string;
  /** Such as `main` or `community`. */
  repository: string;
  package: string;
  id: string;
  /** The versions in which it is fixed, one for each branch of the package. */
  fixed: string[];
}
