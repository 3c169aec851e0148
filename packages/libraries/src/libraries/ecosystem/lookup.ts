import type { Task } from "../reading/task.ts";
import type { AnyKind } from "./document-kind.ts";
import type { Ecosystem } from "./ecosystem.ts";

// The ecosystems that this process, or this thread, knows: ecosystems.ts adds those that every server has, and those
// that a server is started with besides. What is here is only looked up; what a server offers is its own list.

const byNumber = new Map<number, Ecosystem>();
const tasks = new Map<string, Task>();
const kinds = new Map<string, AnyKind>();

/** Makes an ecosystem known. Throws for the number, a task or a document that another one has. */
export function addEcosystem(ecosystem: Ecosystem): void {
  if (byNumber.get(ecosystem.number) === ecosystem) return;
  requireNew(byNumber, ecosystem.number, "ecosystem");
  byNumber.set(ecosystem.number, ecosystem);
  for (const each of ecosystem.tasks) addTask(each);
  for (const each of ecosystem.documents) {
    requireNew(kinds, each.name, "kind of documents");
    kinds.set(each.name, each);
  }
}

/** Makes a task known. Throws for a name that another one has. */
export function addTask(task: Task): void {
  requireNew(tasks, task.name, "task");
  tasks.set(task.name, task);
}

function requireNew<Key>(known: ReadonlyMap<Key, unknown>, key: Key, what: string): void {
  if (known.has(key)) throw new Error(`there are two of the ${what} ${String(key)}`);
}

/** The ecosystem with this number. Throws when nobody has added it. */
export function ecosystemOf(number: number): Ecosystem {
  return found(byNumber, number, "ecosystem");
}

/** All of them, in the order of their numbers. */
export function allEcosystems(): Ecosystem[] {
  return [...byNumber.values()].sort((one, other) => one.number - other.number);
}

/** The task of this name. Throws when no ecosystem has it. */
export function taskNamed(name: string): Task {
  return found(tasks, name, "task");
}

/** The kind of documents of this name. Throws when no ecosystem has it. */
export function kindNamed(name: string): AnyKind {
  return found(kinds, name, "kind of documents");
}

function found<Key, Value>(known: ReadonlyMap<Key, Value>, key: Key, what: string): Value {
  const value = known.get(key);
  if (value === undefined) throw new Error(`there is no ${what} ${String(key)}`);
  return value;
}
