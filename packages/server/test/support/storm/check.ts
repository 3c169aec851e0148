import type { Got } from "./records.ts";
import type { Listener, World } from "./world.ts";
import type { Written } from "./writers.ts";

// Compares the requests that receivers got with the server's acknowledged writes. Returns the faults as texts; none
// when everything is right.

const TAG = ".api.platform.registry.tag.";
const PUSH = ".registry.push.";

/** TAG or PUSH for their events; the type itself for others. */
const kindOf = ({ type }: Got): string => [TAG, PUSH].find((kind) => type.includes(kind)) ?? type;
const took = ({ status }: Got): boolean => status >= 200 && status < 300;
const isBelow = (uid: string, ancestor: string): boolean => uid === ancestor || uid.startsWith(`${ancestor}/`);
const isWanted = (text: string, prefixes: readonly string[]): boolean =>
  prefixes.length === 0 || prefixes.some((prefix) => text.startsWith(prefix));

/** Groups entries by key, in their order. */
export function gathered<T>(entries: Iterable<T>, keyOf: (entry: T) => string): Map<string, T[]> {
  const lists = new Map<string, T[]>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const list = lists.get(key);
    if (list === undefined) lists.set(key, [entry]);
    else list.push(entry);
  }
  return lists;
}

/** Acknowledged writes whose events have not reached a receiver that accepts events. */
export function lost({ listeners }: World, written: readonly Written[], all: readonly Got[]): string[] {
  const byReceiver = gathered(all.filter(took), ({ at }) => at);
  return listeners
    .filter(({ takes }) => takes)
    .flatMap(({ at, group, typePrefixes, subjectPrefixes }) => {
      const has = new Set((byReceiver.get(at) ?? []).map((got) => `${kindOf(got)} ${got.tag} ${got.digest}`));
      const wants = (kind: string): boolean =>
        typePrefixes.length === 0 || typePrefixes.some((prefix) => prefix.includes(kind));
      return written
        .filter(({ place }) => isBelow(place.group, group) && isWanted(place.repo, subjectPrefixes))
        .flatMap(({ place, tag, digest, pushed }) =>
          [TAG, ...(pushed ? [PUSH] : [])]
            .filter((kind) => wants(kind) && !has.has(`${kind} ${tag} ${digest}`))
            .map((kind) => `${at}: no ${kind} of ${place.path}:${tag} ${digest}`),
        );
    });
}

/** Events sent to a receiver outside of their group or filters, and requests to unknown paths. */
export function foreign({ listeners }: World, written: readonly Written[], all: readonly Got[]): string[] {
  const byPath = new Map(listeners.map((listener) => [listener.at, listener]));
  const groups = new Map(written.map(({ digest, place }) => [digest, place.group]));
  const belongs = (
    { type, subject, group, digest }: Got,
    { typePrefixes, subjectPrefixes, ...to }: Listener,
  ): boolean =>
    isBelow(group, to.group) &&
    isBelow(groups.get(digest) ?? to.group, to.group) &&
    isWanted(type, typePrefixes) &&
    isWanted(subject, subjectPrefixes);
  return all
    .filter((got) => {
      const listener = byPath.get(got.at);
      return listener === undefined || !belongs(got, listener);
    })
    .map(({ at, type, subject, group }) => `${at}: not meant for this receiver: ${type} of ${subject} in ${group}`);
}

/**
 * Sequence numbers of a subject that are missing or used twice; and tags whose moves were numbered in another order
 * than they were made.
 */
export function disordered({ listeners, places }: World, written: readonly Written[], all: readonly Got[]): string[] {
  const whole = new Set(listeners.filter(({ at }) => at.startsWith("healthy/")).map(({ at }) => at));
  const roots = new Set(places.map(({ group }) => group.split("/", 1)[0]));
  const events = new Map(all.filter(({ at }) => whole.has(at)).map((got) => [got.id, got]));
  const made = gathered(written, ({ place, tag }) => `${place.repo} ${tag}`);
  return [...gathered(events.values(), ({ subject }) => subject)].flatMap(([subject, unsorted]) => {
    const sorted = unsorted.toSorted((a, b) => a.sequence - b.sequence);
    // Only organizations existed before the subscriptions, so only they may have older events.
    const first = roots.has(subject) ? (sorted[0]?.sequence ?? 1) : 1;
    const wrong = sorted.findIndex(({ sequence }, at) => sequence !== first + at);
    if (wrong >= 0) return [`${subject}: number ${sorted[wrong]?.sequence} in place of ${first + wrong}`];
    const moves = sorted.filter((got) => kindOf(got) === TAG);
    const expected = moves.flatMap(({ tag }, at) =>
      at === 0 ? (made.get(`${subject.slice(0, subject.lastIndexOf("/"))} ${tag}`) ?? []) : [],
    );
    const differs = expected.findIndex(({ digest }, at) => moves[at]?.digest !== digest);
    return differs < 0 && moves.length === expected.length
      ? []
      : [`${subject}: ${moves.length} events of ${expected.length} moves, the first wrong one ${differs}`];
  });
}

/** Events that differed between requests; invalid signatures and tokens; receivers that verified no event. */
export function unproven({ listeners }: World, all: readonly Got[]): string[] {
  const different = [
    ...gathered(
      all.filter(({ hash }) => hash !== ""),
      ({ id }) => id,
    ),
  ]
    .filter(([, [first, ...others]]) => others.some(({ hash }) => hash !== first?.hash))
    .map(([id]) => `${id}: differs between requests`);
  const bad = all
    .filter(({ proof = "" }) => proof !== "" && proof !== "valid")
    .map(({ at, id, proof }) => `${at}: ${id}: ${proof}`);
  const proven = new Set(all.filter(({ proof }) => proof === "valid").map(({ at }) => at));
  return [
    ...different,
    ...bad,
    ...listeners.filter(({ at, takes }) => takes && !proven.has(at)).map(({ at }) => `${at}: nothing verified`),
  ];
}

// A receiver that got no CPU time for a while sees the end of one attempt and the start of the next in any order.
const RECEIVER_LAG_MS = 250;

/** Deliveries with two attempts at the same time. */
export function doubled(all: readonly Got[]): string[] {
  return [...gathered(all, ({ at, id }) => `${at} ${id}`)].flatMap(([key, attempts]) => {
    const sorted = attempts.toSorted((a, b) => a.fromMs - b.fromMs);
    return sorted.some(({ fromMs }, at) => fromMs + RECEIVER_LAG_MS < (sorted[at - 1]?.toMs ?? 0))
      ? [`${key}: two attempts at the same time`]
      : [];
  });
}
