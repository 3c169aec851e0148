// Writes packages/cli/src/gen: the nouns and verbs of the command line, out of the descriptors of the API. With --check
// it only reports whether the committed files are up to date.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { hasOption } from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import * as api from "@moorage/api";
import { format } from "prettier";
import type { MethodSpec } from "../packages/cli/src/resources/spec.ts";
import { isV1 } from "../packages/kernel/src/core/api-version.ts";
import { methodSpec } from "./cli-methods.ts";
import { MADE_BY_HAND, type Noun, NOUN_TABLE, OTHER_SERVICES } from "./cli-nouns.ts";

const HEAD = "// Written by `npm run generate` out of proto/: change it there.\n";
const target = join(dirname(import.meta.dirname), "packages/cli/src/gen");
const check = process.argv.includes("--check");

const files = Object.values(api).flatMap((value) =>
  typeof value === "object" && "kind" in value && value.kind === "file" ? [value] : [],
);
const services = files
  .flatMap((file) => file.services)
  .filter((service) => !isV1(service) && !OTHER_SERVICES.includes(service.name));
const written = new Map<string, string>();
const nouns: Noun[] = [];
for (const noun of NOUN_TABLE) {
  const own = services.filter(({ name }) => noun.services.includes(name));
  if (own.length === 0) continue;
  nouns.push(noun);
  written.set(join("resources", `${noun.name}.ts`), await pretty(nounModule(noun, own)));
}
for (const { name } of services)
  if (!NOUN_TABLE.some((noun) => noun.services.includes(name)))
    throw new Error(`${name} has no noun: give it one in scripts/cli-nouns.ts`);
written.set("resources.ts", await pretty(indexModule(nouns)));

if (!check) {
  rmSync(join(target, "resources"), { recursive: true, force: true });
  mkdirSync(join(target, "resources"), { recursive: true });
  for (const [name, text] of written) writeFileSync(join(target, name), text);
} else {
  const there = [
    "resources.ts",
    ...readdirSync(join(target, "resources")).map((name) => join("resources", name)),
  ].filter((name) => existsSync(join(target, name)));
  if (
    there.length !== written.size ||
    [...written].some(([name, text]) => !there.includes(name) || readFileSync(join(target, name), "utf8") !== text)
  ) {
    console.error("packages/cli/src/gen is out of date: run `npm run generate` and commit what it changes");
    process.exitCode = 1;
  }
}

function nounModule(noun: Noun, own: readonly DescService[]): string {
  const specs = own.flatMap((service) => service.methods.filter(isCommand).map((method) => methodSpec(noun, method)));
  const twice = specs.find(({ verb }, at) => specs.findIndex((other) => other.verb === verb) !== at);
  if (twice !== undefined)
    throw new Error(`${noun.name} ${twice.verb} is two methods: name ${twice.method} in scripts/cli-nouns.ts`);
  return `${HEAD}import type { MethodSpec } from "../../resources/spec.ts";

/** The methods of ${noun.services.join(" and ")}. */
export const METHODS: readonly MethodSpec[] = ${JSON.stringify(withAliases(specs), null, 2)};
`;
}

/** `readme` is `get-readme` and `moves` is `list-moves`, where no other command has that name. */
function withAliases(specs: readonly MethodSpec[]): MethodSpec[] {
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
    return `{ ${data}, load: () => import("./resources/${name}.ts") },`;
  });
  return `${HEAD}import type { NounSpec } from "../resources/spec.ts";

/** Every noun of the API. */
export const NOUNS: readonly NounSpec[] = [
${entries.join("\n")}
];
`;
}

function pretty(text: string): Promise<string> {
  return format(text, { parser: "typescript", printWidth: 120 });
}
