// `moorage apply --print`: the file for what is in a group, so that applying it changes nothing.
import { objectIn, textIn } from "../api/json-fields.ts";
import { hasUidOfGroup, type Kind } from "../api/name-kinds.ts";
import { type Names, namesOf } from "../api/names.ts";
import { type JsonObject, openRest } from "../api/rest.ts";
import { EXIT } from "../command/exit-codes.ts";
import { yamlText } from "../output/yaml.ts";
import { createWriter } from "../output/writer.ts";
import { compact, hasBehavior, isEmpty } from "./fields.ts";
import { KIND_SPECS, type KindSpec } from "./kinds.ts";
import type { ApplyFlags } from "./flags.ts";
import { replaced } from "./references.ts";
import { callerIdentity } from "../caller-identity.ts";
import type { Server } from "./server.ts";

/** Prints the documents of a group and of all below it. Returns the exit code. */
export async function printManifest(group: string, flags: ApplyFlags): Promise<number> {
  const rest = await openRest(flags);
  const names = namesOf(rest);
  const root = await names.uidOf("group", group);
  const caller = await callerIdentity(flags);
  const writer = createWriter();
  let isFirst = true;
  for (const spec of KIND_SPECS) {
    if (spec.kind === "tag" && flags.tags !== true) continue;
    for (const item of await inside(rest, spec, root)) {
      // Whoever applies the file elsewhere has rights of its own there.
      if (spec.kind === "binding" && textIn(objectIn(item, "identity"), "uid") === caller) continue;
      const text = yamlText(await documentOf(spec, item, names, rest));
      await writer.write(isFirst ? text : `---\n${text}`);
      isFirst = false;
    }
  }
  await writer.flush();
  return EXIT.ok;
}

/** Those of a kind in a group and below it: groups first, then by uid, so that parents are before what is in them. */
async function inside(server: Server, spec: KindSpec, root: string): Promise<JsonObject[]> {
  const found: JsonObject[] = [];
  if (spec.kind === "group") found.push(await server.call("GET", `${spec.path}/${root}`));
  if (hasUidOfGroup(spec.kind))
    for await (const item of server.list(spec.path, spec.field, { query: { "uidp.ids": [root] } })) found.push(item);
  for await (const item of server.list(spec.path, spec.field, { query: { "uidp.descendantsOf": root } }))
    found.push(item);
  const own = new Map(found.map((item) => [textIn(item, "uid"), item]));
  return [...own.values()]
    .filter((item) => textIn(item, "uid").startsWith(root))
    .toSorted((one, other) => depthOf(one) - depthOf(other));
}

function depthOf(item: JsonObject): number {
  return textIn(item, "uid").split("/").length;
}

async function documentOf(spec: KindSpec, listed: JsonObject, names: Names, server: Server): Promise<JsonObject> {
  const uid = textIn(listed, "uid");
  const item = spec.kind === "repo" ? await server.call("GET", `${spec.path}/${uid}`) : listed;
  const above = hasUidOfGroup(spec.kind) ? uid : uid.slice(0, Math.max(0, uid.lastIndexOf("/")));
  const parent = above === "" ? undefined : await names.pathOf(above, spec.parent);
  const fields: JsonObject = {};
  for (const field of spec.message.fields) {
    const value = item[field.jsonName];
    if (!hasBehavior(field, "OUTPUT_ONLY") && !isEmpty(field, value) && value !== undefined)
      fields[field.jsonName] = compact(field, value);
  }
  for (const [own, renamed] of Object.entries(spec.renamed)) {
    const named = textIn(objectIn(item, own), "uid") || textIn(item, renamed);
    if (named !== "") fields[renamed] = named;
  }
  const named = await replaced(
    fields,
    spec.references,
    async (kinds, text) => await pathIn(names, kinds[0] ?? "group", text),
  );
  const back = new Map(Object.entries(spec.renamed).map(([own, renamed]) => [renamed, own]));
  const isKnown = await isOnlyOne(spec, uid, parent, names, named);
  return {
    kind: spec.name,
    ...(parent !== undefined && { parent }),
    ...(!isKnown && { uid }),
    ...Object.fromEntries(Object.entries(named).map(([name, value]) => [back.get(name) ?? name, value])),
  };
}

/** The path by which a file names it: its uid where the path is not there or names several. */
async function pathIn(names: Names, kind: Kind, uid: string): Promise<string> {
  const path = await names.pathOf(uid, kind);
  if (kind !== "identity" || path === uid) return path;
  return (await names.uidOf("identity", path).catch(() => "")) === uid ? path : uid;
}

/** Whether its name alone says which one it is: identities may have a name in common. */
async function isOnlyOne(
  { kind }: KindSpec,
  uid: string,
  parent: string | undefined,
  names: Names,
  fields: JsonObject,
): Promise<boolean> {
  if (kind !== "identity") return true;
  return (await names.uidOf("identity", `${parent}/${textIn(fields, "name")}`).catch(() => "")) === uid;
}
