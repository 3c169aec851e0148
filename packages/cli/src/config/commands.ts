// `moorage config`: the contexts of this person.
import { nearest } from "@moorage/kernel/lib/near";
import type { Command } from "commander";
import { UsageFailure } from "../command/failure.ts";
import { serverUrl } from "../server-url.ts";
import {
  type Context,
  CONTEXT_KEYS,
  type Contexts,
  contextsFile,
  noSuchContext,
  readContexts,
  writeContexts,
} from "./contexts.ts";

/** Adds `moorage config`. */
export function addConfig(program: Command): void {
  const config = program
    .command("config")
    .description("contexts: named servers and how to use them")
    .addHelpText(
      "after",
      "\nExample:\n  moorage config set prod url=https://registry.example\n  moorage config use prod",
    );
  config
    .command("contexts")
    .alias("list")
    .description("list the contexts; the current one is marked")
    .action(() => {
      const { current, contexts } = readContexts();
      for (const [name, { url = "", dataDir }] of Object.entries(contexts))
        console.log(`${name === current ? "*" : " "} ${name}  ${url || (dataDir ?? "")}`);
    });
  config
    .command("use")
    .description("make a context the current one")
    .argument("<name>", "its name")
    .action((name: string) => {
      const contexts = readContexts();
      contextOf(contexts, name);
      writeContexts({ ...contexts, current: name });
      console.error(`Using ${name}`);
    });
  config
    .command("set")
    .description("set values of a context, which is made when it is new")
    .argument("<name>", "its name")
    .argument("<values...>", "such as url=https://registry.example")
    .addHelpText("after", `\nValues:\n${keysText()}`)
    .action((name: string, values: string[]) => {
      const { current, contexts } = readContexts();
      const context: Context = { ...contexts[name], ...Object.fromEntries(values.map(valueOf)) };
      writeContexts({ current: current ?? name, contexts: { ...contexts, [name]: context } });
      console.error(`${name === (current ?? name) ? "Using" : "Set"} ${name}`);
    });
  config
    .command("unset")
    .description("remove a context, or values of it")
    .argument("<name>", "its name")
    .argument("[keys...]", "values to remove, such as group; the whole context without any")
    .action((name: string, keys: string[]) => {
      const all = readContexts();
      const context = contextOf(all, name);
      for (const key of keys) checkKey(key);
      const { [name]: _, ...others } = all.contexts;
      const left = Object.fromEntries(Object.entries(context).filter(([key]) => !keys.includes(key)));
      const contexts = keys.length === 0 ? others : { ...all.contexts, [name]: left };
      const isGone = keys.length === 0 && all.current === name;
      writeContexts({ ...(all.current === undefined || isGone ? {} : { current: all.current }), contexts });
    });
  config
    .command("view")
    .description("print the contexts as JSON")
    .action(() => console.log(JSON.stringify(readContexts(), null, 2)));
  config
    .command("path")
    .description("print where the file is")
    .action(() => console.log(contextsFile()));
}

function contextOf({ contexts }: Contexts, name: string): Context {
  const found = contexts[name];
  if (found === undefined) throw noSuchContext(name, Object.keys(contexts));
  return found;
}

function valueOf(text: string): [string, string] {
  const [, key, value] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined)
    throw new UsageFailure(`must look like url=https://registry.example, not ${text}`, { field: "values" });
  checkKey(key);
  return [key, key === "url" ? serverUrl(value) : value];
}

function checkKey(key: string): void {
  const keys = Object.keys(CONTEXT_KEYS);
  if (keys.includes(key)) return;
  const near = nearest(key, keys);
  throw new UsageFailure("is no value of a context", {
    field: key,
    hint: near.length > 0 ? `did you mean ${near.join(" or ")}?` : `there are ${keys.join(", ")}`,
  });
}

function keysText(): string {
  return Object.entries(CONTEXT_KEYS)
    .map(([key, help]) => `  ${key.padEnd(10)} ${help}`)
    .join("\n");
}
