import { isWithin, parentOf } from "../lib/uid.ts";
import { type Database, statement } from "../store/index.ts";

/** What decides who gets an event. */
export interface Addressed {
  /** Without the configured prefix. */
  type: string;
  subject: string;
  /** The group it happened in, or empty. */
  parent: string;
  /** The only subscription it is for, or empty. */
  target: string;
}

/** A subscription, as far as it chooses. Without prefixes it gets all. */
interface Subscriber {
  uid: string;
  typePrefixes: string[];
  subjectPrefixes: string[];
}

interface SubscriberRow {
  uid: string;
  parent: string;
  type_prefixes: string;
  subject_prefixes: string;
}

const selectSubscribers = statement<SubscriberRow>(
  "select uid, parent, type_prefixes, subject_prefixes from subscriptions where parent in (select key from json_each(?)) order by uid",
);

/**
 * Who gets which of the events: reads the subscriptions of their groups and of every group above, once. `typePrefix` as
 * in the settings.
 */
export async function openFanOut(
  db: Database,
  events: readonly Addressed[],
  typePrefix: string,
): Promise<(event: Addressed) => string[]> {
  const byGroup = new Map<string, Subscriber[]>();
  const groups = new Set(events.flatMap(groupsOf));
  if (groups.size > 0) {
    for (const { uid, parent, type_prefixes: types, subject_prefixes: subjects } of await selectSubscribers(
      db,
      keysOf(groups),
    )) {
      const subscriber = {
        uid,
        typePrefixes: JSON.parse(types) as string[],
        subjectPrefixes: JSON.parse(subjects) as string[],
      };
      byGroup.set(parent, [...(byGroup.get(parent) ?? []), subscriber]);
    }
  }
  return (event) => {
    const near = groupsOf(event).flatMap((group) => byGroup.get(group) ?? []);
    // What is for one alone is what it asked for, whatever it gets otherwise.
    return near
      .filter((one) => (event.target === "" ? chooses(one, event, typePrefix) : one.uid === event.target))
      .map(({ uid }) => uid);
  };
}

/** The texts as keys of a JSON object, which every engine can read as rows. */
export function keysOf(texts: Iterable<string>): string {
  return JSON.stringify(Object.fromEntries([...texts].map((text) => [text, 0])));
}

/** The group and every one above, outermost first. */
function groupsOf({ parent, target }: Addressed): string[] {
  const group = target === "" ? parent : parentOf(target);
  const found: string[] = [];
  for (let uid = group; uid !== ""; uid = parentOf(uid)) found.unshift(uid);
  return found;
}

/** Whether the filters let it through: the type as it is sent begins so, the subject is one of these or below one. */
function chooses(
  { typePrefixes, subjectPrefixes }: Subscriber,
  { type, subject }: Addressed,
  typePrefix: string,
): boolean {
  const full = `${typePrefix}.${type}`;
  return (
    (typePrefixes.length === 0 || typePrefixes.some((prefix) => full.startsWith(prefix))) &&
    (subjectPrefixes.length === 0 || subjectPrefixes.some((uid) => isWithin(subject, uid)))
  );
}
