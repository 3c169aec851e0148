import { parentUid } from "../../lib/uid.ts";

/** The rule that counts for a group: its own, or that of the nearest group above; undefined without any. */
export function nearest<Rule extends { uid: string }>(group: string, rules: readonly Rule[]): Rule | undefined {
  const above = rules.filter(({ uid }) => group === parentUid(uid) || group.startsWith(`${parentUid(uid)}/`));
  return above.toSorted((one, other) => parentUid(other.uid).length - parentUid(one.uid).length)[0];
}

/** Whether a name is one of those that only groups publish; `*` at the end stands for anything. */
export function isReserved(name: string, reserved: readonly string[]): boolean {
  return reserved.some((each) =>
    each.endsWith("*") ? name.startsWith(each.slice(0, -1)) : name === each || name.startsWith(`${each}:`),
  );
}
