import { MoorageError } from "../../errors.ts";
import { forEachConcurrently } from "../../lib/for-each-concurrently.ts";
import { createLru } from "../../lib/lru.ts";
import { mavenKey } from "../../lib/versions/index.ts";
import { ORIGIN } from "../artifacts/names.ts";
import type { LibraryExchange } from "../http/exchange.ts";
import type { Gate, VersionFacts } from "../policies/gate.ts";
import type { UpstreamSettings } from "../upstreams/settings.ts";
import { type Coordinates, nameOf } from "./paths.ts";
import type { UpstreamMetadata } from "./upstream-metadata.ts";
import { upstreamPom } from "./upstream-poms.ts";

/** What releases of an upstream that are not kept are judged by in metadata. */
export interface Ages {
  facts: VersionFacts[];
  /** After how long more may be known, in milliseconds; undefined when all is. */
  againMs: number | undefined;
}

/** How many POMs are asked for at most for one document, and how many concurrently. */
const MAX_ASKED = 100;
const CONCURRENCY = 8;
const MORE_MS = 1_000;
const AFTER_FAILURE_MS = 30_000;

/** What POMs have said, by upstream and release: they are not asked for again by each document. */
const known = createLru<string, Pick<VersionFacts, "publishMs" | "license">>(100_000);

/**
 * When releases were published. Metadata do not say it, but a release is no younger than the document that listed it
 * first. Where that is too young for the policy, its POM is asked for: its Last-Modified is the release's age. Of very
 * many, the newest come first and the others with the next requests; until then they are as young as their document.
 */
export async function upstreamAges(
  exchange: LibraryExchange,
  settings: UpstreamSettings,
  coordinates: Coordinates,
  gate: Gate,
  versions: UpstreamMetadata["versions"],
): Promise<Ages> {
  const idOf = (version: string): string => `${settings.uid} ${settings.url} ${nameOf(coordinates)}:${version}`;
  const facts = new Map<string, VersionFacts>();
  const young: string[] = [];
  for (const [version, publishMs] of versions) {
    const first: VersionFacts = { version, origin: ORIGIN.upstream, publishMs, license: null };
    const said = known.get(idOf(version));
    facts.set(version, { ...first, ...said });
    const isAsked = said === undefined && gate.mode !== "none";
    if (isAsked && gate.verdictOn(first)?.reason === "cooldown") young.push(version);
  }
  young.sort((a, b) => (mavenKey(a) < mavenKey(b) ? 1 : -1));
  let againMs = young.length > MAX_ASKED ? MORE_MS : undefined;
  await forEachConcurrently(young.slice(0, MAX_ASKED), CONCURRENCY, async (version) => {
    const first = facts.get(version);
    if (first === undefined) return;
    try {
      const pom = await upstreamPom(exchange, settings, { ...coordinates, version });
      const license = pom === undefined ? "" : pom.license === "" && pom.parent !== null ? null : pom.license;
      const said = { publishMs: pom?.publishMs ?? first.publishMs, license };
      known.set(idOf(version), said);
      facts.set(version, { ...first, ...said });
    } catch (error) {
      if (!(error instanceof MoorageError)) throw error;
      againMs = AFTER_FAILURE_MS;
    }
  });
  return { facts: [...facts.values()], againMs };
}
