import { isWithin, parentOf } from "@moorage/kernel/lib/uid";
import { type Database, statement } from "@moorage/kernel/store";

/** The fields of an event that decide which subscriptions get it. */
export interface Addressed {
  /** Without the configured prefix. */
  type: string;
  subject: string;
  /** The group it happened in, or empty. */
  parent: string;
  /** The only subscription that gets it, or empty. */
  target: string;
  /** 1 for a push or pull that is not by a tag. */
  untagged: number;
}

/** A subscription's filters. Without prefixes it gets all events. */
interface Subscriber {
  uid: string;
  typePrefixes: string[];
  subjectPrefixes: string[];
  taggedOnly: boolean;
}

interface SubscriberRow {
  uid: string;
  parent: string;
  type_prefixes: string;
  subject_prefixes: string;
  tagged_only: number;
}

const selectSubscribers = statement<SubscriberRow>(
  "select uid, parent, type_prefixes, subject_prefixes, tagged_only from subscriptions where parent in (select key from json_each(?)) order by uid",
);

/**
 * Reads the subscriptions of the events' groups and of every group above, and returns a function that gives the
 * recipients of an event. `typePrefix` as in the settings.
 */
export async function openFanOut(
  db: Database,
  events: readonly Addressed[],
  typePrefix: string,
): Promise<(event: Addressed) => string[]> {
  const byGroup = new Map<string, Subscriber[]>();
  const groups = new Set(events.flatMap(groupsOf));
  if (groups.size > 0) {
    for (const row of await selectSubscribers(db, keysOf(groups))) {
      const { uid, parent, type_prefixes: types, subject_prefixes: subjects, tagged_only: taggedOnly } = row;
      const subscriber = {
        uid,
        typePrefixes: JSON.parse(types) as string[],
        subjectPrefixes: JSON.parse(subjects) as string[],
        taggedOnly: taggedOnly === 1,
      };
      byGroup.set(parent, [...(byGroup.get(parent) ?? []), subscriber]);
    }
  }
  return (event) => {
    const near = groupsOf(event).flatMap((group) => byGroup.get(group) ?? []);
    // A test event goes to its target, whatever the filters.
    return near
      .filter((one) => (event.target === "" ? matches(one, event, typePrefix) : one.uid === event.target))
      .map(({ uid }) => uid);
  };
}

/** The texts as keys of a JSON object, which both databases can read as rows. */
export function keysOf(texts: Iterable<string>): string {
  return JSON.stringify(Object.fromEntries([...texts].map((text) => [text, 0])));
}

/** The event's group and all groups above it, outermost first. */
function groupsOf({ parent, target }: Addressed): string[] {
  const group = target === "" ? parent : parentOf(target);
  const found: string[] = [];
  for (let uid = group; uid !== ""; uid = parentOf(uid)) found.unshift(uid);
  return found;
}

/**
 * Whether the filters match: the full type begins with one of the type prefixes, the subject is at or below one of the
 * subjects, and a push or pull is by a tag where only these are wanted.
 */
function matches(
  { typePrefixes, subjectPrefixes, taggedOnly }: Subscriber,
  { type, subject, untagged }: Addressed,
  typePrefix: string,
): boolean {
  const full = `${typePrefix}.${type}`;
  return (
    !(taggedOnly && untagged === 1) &&
    (typePrefixes.length === 0 || typePrefixes.some((prefix) => full.startsWith(prefix))) &&
    (subjectPrefixes.length === 0 || subjectPrefixes.some((uid) => isWithin(subject, uid)))
  );
}
