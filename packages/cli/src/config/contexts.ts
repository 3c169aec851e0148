// Contexts: named servers with what is used of them, in a file of this person.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nearest } from "@moorage/kernel/lib/near";
import { Failure, UsageFailure } from "../command/failure.ts";
import { serverUrl } from "../server-url.ts";
import { configFolder } from "./paths.ts";

/** A server and how it is used. */
export interface Context {
  /** URL of the server. */
  url?: string;
  /** The data folder of a server of this machine: act as its owner. */
  dataDir?: string;
  /** A file with an access token, which is read at each use. */
  tokenFile?: string;
  /** A file with certificate authorities to trust, PEM. */
  caFile?: string;
  /** The group, by its path, in which names without a path are looked up and lists begin. */
  group?: string;
  /** The output format to use. */
  output?: string;
}

/** The file's content. `current`: the name of the context that is used unless another is named. */
export interface Contexts {
  current?: string;
  contexts: Record<string, Context>;
}

/** What a context may have, with its meaning. */
export const CONTEXT_KEYS: Readonly<Record<keyof Context, string>> = {
  url: "URL of the server",
  dataDir: "data folder of a server of this machine: act as its owner",
  tokenFile: "file with an access token, read at each use",
  caFile: "PEM file of authorities to trust beside the machine's own",
  group: "group of lists that name no other, such as acme/team",
  output: "output format, such as json",
};

/** The path of the file. */
export function contextsFile(env: NodeJS.ProcessEnv = process.env): string {
  return join(configFolder(env), "config.json");
}

/** The contexts; none without a file. Throws a Failure that names the file and what is wrong in it. */
export function readContexts(file = contextsFile()): Contexts {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "ENOENT") return { contexts: {} };
    throw new Failure(`cannot read ${file}: ${(cause as Error).message}`, { cause });
  }
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (cause) {
    throw new Failure(`${file} is not JSON: ${(cause as Error).message}`, {
      hint: "correct it, or remove it and make the contexts again with: moorage config set",
      cause,
    });
  }
  return checked(content, file);
}

function checked(content: unknown, file: string): Contexts {
  const wrong = (where: string, what: string): Failure => new Failure(`${file}: ${where}: ${what}`);
  if (!isRecord(content)) throw wrong("the whole", "must be an object");
  known(content, ["current", "contexts"], "", wrong);
  const { current, contexts = {} } = content;
  if (current !== undefined && typeof current !== "string") throw wrong("current", "must be text");
  if (!isRecord(contexts)) throw wrong("contexts", "must be an object");
  const found: Record<string, Context> = Object.create(null) as Record<string, Context>;
  for (const [name, context] of Object.entries(contexts)) {
    const at = `contexts.${name}`;
    if (!isRecord(context)) throw wrong(at, "must be an object");
    known(context, Object.keys(CONTEXT_KEYS), `${at}.`, wrong);
    for (const [key, value] of Object.entries(context))
      if (typeof value !== "string") throw wrong(`${at}.${key}`, "must be text");
    found[name] = context as Context;
  }
  return { ...(current === undefined ? {} : { current }), contexts: found };
}

function known(
  record: Record<string, unknown>,
  keys: readonly string[],
  prefix: string,
  wrong: (where: string, what: string) => Failure,
): void {
  for (const key of Object.keys(record))
    if (!keys.includes(key)) {
      const [near] = nearest(key, keys);
      throw wrong(
        `${prefix}${key}`,
        near === undefined ? `is no setting; there are ${keys.join(", ")}` : `is no setting; did you mean ${near}?`,
      );
    }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Writes the file in one step, readable by its owner alone. */
export function writeContexts(contexts: Contexts, file = contextsFile()): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(contexts, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, file);
}

/**
 * Makes a context for a server that was signed in to, named after its host, unless one has that URL; and makes it the
 * current one if there is none.
 */
export function rememberServer(url: string): void {
  const { current, contexts } = readContexts();
  const known = Object.entries(contexts).find(([, context]) => context.url === url)?.[0];
  const name = known ?? freeName(new URL(url).host, contexts);
  if (known !== undefined && current !== undefined) return;
  writeContexts({
    current: current ?? name,
    contexts: known === undefined ? { ...contexts, [name]: { url } } : contexts,
  });
}

function freeName(host: string, contexts: Contexts["contexts"]): string {
  for (let count = 1; ; count += 1) {
    const name = count === 1 ? host : `${host}-${count}`;
    if (contexts[name] === undefined) return name;
  }
}

/**
 * The context that is used: the one named by the flag, by MOORAGE_CONTEXT, or the current one. Undefined when there is
 * none. Throws a UsageFailure for a name that is not there.
 */
export function chosenContext(flag: string | undefined): ({ name: string } & Context) | undefined {
  const asked = flag || process.env["MOORAGE_CONTEXT"];
  const { current, contexts } = readContexts();
  const name = asked || current;
  if (name === undefined || name === "") return undefined;
  const context = contexts[name];
  if (context !== undefined) return { name, ...context };
  throw noSuchContext(name, Object.keys(contexts), asked === undefined ? contextsFile() : "--context");
}

/** The error for a context that is not there. `field`: where its name came from. */
export function noSuchContext(name: string, names: readonly string[], field?: string): UsageFailure {
  const near = nearest(name, names);
  const hint =
    near.length > 0
      ? `did you mean ${near.join(" or ")}?`
      : names.length > 0
        ? `there are ${names.join(", ")}`
        : "there are none: moorage config set NAME url=https://registry.example";
  return new UsageFailure(`there is no context ${name}`, { hint, ...(field === undefined ? {} : { field }) });
}

/** The URL of a context in the form in which servers name themselves. Throws a Failure that names the context. */
export function urlOfContext({ name, url }: { name: string } & Context): string | undefined {
  if (url === undefined) return undefined;
  try {
    return serverUrl(url);
  } catch {
    throw new Failure(
      `${contextsFile()}: contexts.${name}.url: must be an http or https URL without a path, not ${url}`,
    );
  }
}
