import { ChangeKind } from "@moorage/api/messages";
import { isObject } from "@moorage/kernel/lib/json";
import type { Descriptor } from "./images.ts";

/** How many differences of values and layers an answer may have. */
export class ChangeBudget {
  truncated = false;
  #left: number;

  constructor(changes: number) {
    this.#left = changes;
  }

  /** As many of the changes as the answer may still have. */
  take<T>(changes: T[]): T[] {
    const taken = changes.slice(0, this.#left);
    this.#left -= taken.length;
    if (taken.length < changes.length) this.truncated = true;
    return taken;
  }
}

export interface ValueChanged {
  name: string;
  from?: string;
  to?: string;
}
export interface LayerChanged {
  kind: ChangeKind;
  digest: string;
  mediaType: string;
  size: bigint;
}

const MAX_VALUE = 1_024;
const MAX_NAME = 256;

/** The entries that differ, in the order of their names. */
export function valueChanges(from: ReadonlyMap<string, string>, to: ReadonlyMap<string, string>): ValueChanged[] {
  const names = [...new Set([...from.keys(), ...to.keys()])].filter((name) => from.get(name) !== to.get(name));
  return names.sort().map((name) => {
    const [before, after] = [from.get(name), to.get(name)];
    return {
      name: cut(name, MAX_NAME),
      ...(before === undefined ? {} : { from: cut(before, MAX_VALUE) }),
      ...(after === undefined ? {} : { to: cut(after, MAX_VALUE) }),
    };
  });
}

/**
 * The entries of a configuration by name, without labels, layers and history. Those of `config` stand without a prefix,
 * each variable of the environment under `Env.`. Source: OCI image specification v1.1, "Image Configuration".
 */
export function configEntries(config: Readonly<Record<string, unknown>>): Map<string, string> {
  const { config: inner, rootfs: _rootfs, history: _history, ...outer } = config;
  const { Labels: _labels, Env: env, ...rest } = isObject(inner) ? inner : {};
  const entries = textsOf({ ...outer, ...rest });
  for (const variable of Array.isArray(env) ? env : []) {
    if (typeof variable !== "string") continue;
    const at = variable.indexOf("=");
    entries.set(`Env.${at < 0 ? variable : variable.slice(0, at)}`, at < 0 ? "" : variable.slice(at + 1));
  }
  return entries;
}

/** The labels of a configuration. */
export function labelsOf({ config }: Readonly<Record<string, unknown>>): Map<string, string> {
  return textsOf(isObject(config) ? config["Labels"] : undefined);
}

/** The entries of an object as texts: strings as they stand, all else as JSON. Without those that are null. */
export function textsOf(value: unknown): Map<string, string> {
  const entries = isObject(value) ? Object.entries(value) : [];
  return new Map(
    entries
      .filter(([, each]) => each !== null && each !== undefined)
      .map(([name, each]) => [name, typeof each === "string" ? each : JSON.stringify(each)]),
  );
}

/** The layers that only one of the images has. */
export function layerChanges(from: readonly Descriptor[], to: readonly Descriptor[]): LayerChanged[] {
  return [...onlyIn(from, to, ChangeKind.REMOVED), ...onlyIn(to, from, ChangeKind.ADDED)];
}

function onlyIn(layers: readonly Descriptor[], others: readonly Descriptor[], kind: ChangeKind): LayerChanged[] {
  const known = new Set(others.map(({ digest }) => digest));
  return layers
    .filter(({ digest }) => !known.has(digest))
    .map(({ digest, mediaType = "", size }) => ({ kind, digest, mediaType, size: BigInt(size) }));
}

function cut(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length - 1).toWellFormed()}…`;
}
