import type { Got } from "./records.ts";
import type { Listener, World } from "./world.ts";
import type { Written } from "./writers.ts";

// Compares the requests that receivers got with the server's acknowledged writes. Returns the faults as texts; none
// when everything is right.

const TAG = ".api.platform.registry.tag.";
const PUSH = ".registry.push.";

/** Which of the two an event is; the type itself for another. */
const kindOf = ({ type }: Got): string => [TAG, PUSH].find((kind) => type.includes(kind)) ?? type;
const took = ({ status }: Got): boolean => status >= 200 && status < 300;
const isBelow = (uid: string, ancestor: string): boolean => uid === ancestor || uid.startsWith(`${ancestor}/`);
const isWanted = (text: string, prefixes: readonly string[]): boolean =>
  prefixes.length === 0 || prefixes.some((prefix) => text.startsWith(prefix));

/** Lists by key, in the order of the entries. */
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

/** Acknowledged writes whose events a receiver that takes them has not got. */
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

/** Events that were sent where they do not belong, and requests that should not have been made. */
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
    .map(({ at, type, subject, group }) => `${at}: not for it: ${type} of ${subject} in ${group}`);
}

/**
 * Numbers of a subject that are missing, or stand for two events; and tags whose moves were sent in another order than
 * they were made.
 */
export function disordered({ listeners, places }: World, written: readonly Written[], all: readonly Got[]): string[] {
  const whole = new Set(listeners.filter(({ at }) => at.startsWith("healthy/")).map(({ at }) => at));
  const roots = new Set(places.map(({ group }) => group.split("/", 1)[0]));
  const events = new Map(all.filter(({ at }) => whole.has(at)).map((got) => [got.id, got]));
  const made = gathered(written, ({ place, tag }) => `${place.repo} ${tag}`);
  return [...gathered(events.values(), ({ subject }) => subject)].flatMap(([subject, unsorted]) => {
    const sorted = unsorted.toSorted((a, b) => a.sequence - b.sequence);
    // Only what was there before the subscriptions may have older events.
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

/** Events that were not the same for everybody and at each try; proofs that do not hold, or were never looked at. */
export function unproven({ listeners }: World, all: readonly Got[]): string[] {
  const different = [
    ...gathered(
      all.filter(({ hash }) => hash !== ""),
      ({ id }) => id,
    ),
  ]
    .filter(([, [first, ...others]]) => others.some(({ hash }) => hash !== first?.hash))
    .map(([id]) => `${id}: not always the same`);
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

// A receiver that had no processor for a while learns of the end of one try and of the next one together, in any order.
const RECEIVERS_LAG_MS = 250;

/** Deliveries that were under way twice at the same time. */
export function doubled(all: readonly Got[]): string[] {
  return [...gathered(all, ({ at, id }) => `${at} ${id}`)].flatMap(([key, tries]) => {
    const sorted = tries.toSorted((a, b) => a.fromMs - b.fromMs);
    return sorted.some(({ fromMs }, at) => fromMs + RECEIVERS_LAG_MS < (sorted[at - 1]?.toMs ?? 0))
      ? [`${key}: two tries at once`]
      : [];
  });
}
