// What the files of scripts/gen/main.ts were made of: that a file has changed is seen without reading it.
import { mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

/** When each file was changed, and its size, by its path below the root of the repository. */
type Stamps = Readonly<Record<string, string>>;

interface State {
  /** What was read: sources, documents, folders whose names count. */
  readonly inputs: Stamps;
  /** What was written. */
  readonly outputs: Stamps;
}

const FILE = "build/generated.json";

/** Whether all that was written is there, and is as it was when its sources were as they are. */
export function isUpToDate(root: string): boolean {
  let state: State;
  try {
    state = JSON.parse(readFileSync(join(root, FILE), "utf8")) as State;
  } catch {
    return false; // Never made, or half written by hand.
  }
  return [state.inputs, state.outputs].every((stamps) =>
    Object.entries(stamps).every(([path, stamp]) => stampOf(root, path) === stamp),
  );
}

/** Notes that the outputs are made of the inputs as both are now. */
export function noteState(root: string, inputs: Iterable<string>, outputs: Iterable<string>): void {
  const stampsOf = (paths: Iterable<string>): Stamps =>
    Object.fromEntries([...paths].toSorted().map((path) => [path, stampOf(root, path)]));
  const state: State = { inputs: stampsOf(inputs), outputs: stampsOf(outputs) };
  writeWhole(join(root, FILE), `${JSON.stringify(state, null, 1)}\n`);
}

/** Writes a file so that whoever reads it meanwhile has the old one or the new one. */
export function writeWhole(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  const unfinished = `${path}.${process.pid}.new`;
  writeFileSync(unfinished, text);
  renameSync(unfinished, path);
}

function stampOf(root: string, path: string): string {
  const { mtimeMs, size } = statSync(join(root, path), { throwIfNoEntry: false }) ?? {};
  return `${mtimeMs} ${size}`;
}
