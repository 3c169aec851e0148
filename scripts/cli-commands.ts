// The nouns and verbs of the command line (packages/cli/src/gen), out of the descriptors of the API.
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { hasOption } from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import * as api from "@moorage/api";
import type { MethodData, NounData } from "../packages/cli/src/resources/method-data.ts";
import { isV1 } from "../packages/kernel/src/core/api-version.ts";
import { messagesOf } from "./cli-fields.ts";
import { methodData } from "./cli-methods.ts";
import { MADE_BY_HAND, type Noun, NOUN_TABLE, OTHER_SERVICES } from "./cli-nouns.ts";

const HEAD = "// Made by scripts/gen/main.ts out of proto/: change it there.\n";

/**
 * The files by their names below packages/cli/src/gen. Throws an Error for a service without a noun, and for a method
 * that no command calls.
 */
export function commandFiles(): Map<string, string> {
  const files = Object.values(api).flatMap((value) =>
    typeof value === "object" && "kind" in value && value.kind === "file" ? [value] : [],
  );
  const services = files
    .flatMap((file) => file.services)
    .filter((service) => !isV1(service) && !OTHER_SERVICES.includes(service.name));
  for (const { name } of services)
    if (!NOUN_TABLE.some((noun) => noun.services.includes(name)))
      throw new Error(`${name} has no noun: give it one in scripts/cli-nouns.ts`);
  const written = new Map<string, string>();
  const nouns: Noun[] = [];
  for (const noun of NOUN_TABLE) {
    const own = services.filter(({ name }) => noun.services.includes(name));
    if (own.length === 0) continue;
    nouns.push(noun);
    written.set(`resources/${noun.name}.ts`, nounModule(noun, own));
  }
  return written.set("resources.ts", indexModule(nouns));
}

/** Text that the command parses, which takes less time than code. */
function nounModule(noun: Noun, own: readonly DescService[]): string {
  const made = own.flatMap((service) => service.methods.filter(isCommand).map((method) => methodData(noun, method)));
  const methods = made.map(({ data }) => data);
  const twice = methods.find(({ verb }, at) => methods.findIndex((other) => other.verb === verb) !== at);
  if (twice !== undefined)
    throw new Error(`${noun.name} ${twice.verb} is two methods: name ${twice.method} in scripts/cli-nouns.ts`);
  const data: NounData = { messages: messagesOf(made.flatMap(({ uses }) => uses)), methods: withAliases(methods) };
  return `${HEAD}
/** The methods of ${noun.services.join(" and ")}: JSON of a NounData. */
export const DATA = ${JSON.stringify(JSON.stringify(data))};
`;
}

/** `readme` is `get-readme` and `moves` is `list-moves`, where no other command has that name. */
function withAliases(specs: readonly MethodData[]): MethodData[] {
  const taken = new Set(specs.map(({ verb }) => verb));
  return specs.map((spec) => {
    const short =
      spec.verb === "list" ? "ls" : spec.verb === "delete" ? "rm" : /^(?:get|list)-(.+)$/.exec(spec.verb)?.[1];
    if (short === undefined || taken.has(short)) return spec;
    taken.add(short);
    return { ...spec, aliases: [short] };
  });
}

/** Whether REST offers the method. Throws for one that nothing offers. */
function isCommand(method: DescMethod): boolean {
  if (hasOption(method, httpOption)) return true;
  const name = `${method.parent.name}.${method.name}`;
  if (MADE_BY_HAND[name] === undefined)
    throw new Error(`${name} has no REST path: make a command for it, and name that in scripts/cli-nouns.ts`);
  return false;
}

function indexModule(all: readonly Noun[]): string {
  const entries = all.map(({ name, section, summary, aliases }) => {
    const data = JSON.stringify({ name, section, summary, ...(aliases && { aliases }) }).slice(1, -1);
    return `  { ${data}, load: () => import("./resources/${name}.ts") },\n`;
  });
  return `${HEAD}import type { NounSpec } from "../resources/spec.ts";

/** Every noun of the API. */
export const NOUNS: readonly NounSpec[] = [
${entries.join("")}];
`;
}
