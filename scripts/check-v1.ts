// `npm run check`: every method of v1 is served, and every field of its messages is mapped to v2, or read or written by
// the code of v1.
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import type { DescMessage, DescMethod, DescService } from "@bufbuild/protobuf";
import { file_moorage_advisory_security_advisories } from "../packages/api/src/v1/advisory.ts";
import * as iam from "../packages/api/src/v1/iam.ts";
import { file_moorage_libraries_artifacts } from "../packages/api/src/v1/libraries.ts";
import {
  file_moorage_registry_registry,
  file_moorage_registry_vulnerabilities,
} from "../packages/api/src/v1/registry.ts";
import { file_moorage_vulnerabilities_v1_advisories } from "../packages/api/src/v1/vulnerabilities.ts";
import { v1Methods } from "../packages/server/src/v1/index.ts";
import { mappedMessages } from "../packages/server/src/v1/mapping.ts";

/** The code of v1: texts by file name. */
export type Code = ReadonlyMap<string, string>;

/** The services of v1, as their `.proto` files have them. */
export const SERVICES: readonly DescService[] = [
  ...Object.values<unknown>(iam).filter(
    (value): value is DescService =>
      typeof value === "object" && value !== null && "kind" in value && value.kind === "service",
  ),
  ...[
    file_moorage_registry_registry,
    file_moorage_registry_vulnerabilities,
    file_moorage_vulnerabilities_v1_advisories,
    file_moorage_advisory_security_advisories,
    file_moorage_libraries_artifacts,
  ].flatMap(({ services }) => services),
];

/** The methods that nothing answers. */
export function unserved(services: readonly DescService[], served: ReadonlySet<string>): string[] {
  return services.flatMap(({ methods, typeName }) =>
    methods.map(({ name }) => `${typeName}.${name}`).filter((name) => !served.has(name)),
  );
}

/**
 * The fields of the method's messages that have no mapping. A message with a mapping has one for each field, by its
 * type; the items of a list are made where all lists are. Of any other message, each field is named in the folder of
 * the files that name the message or the service.
 */
export function unmapped(method: DescMethod, mapped: ReadonlySet<DescMessage>, code: Code): string[] {
  const messages = new Set<DescMessage>();
  const add = (message: DescMessage): void => {
    if (messages.has(message) || !message.typeName.startsWith("moorage.")) return;
    messages.add(message);
    for (const field of message.fields) if (field.message !== undefined) add(field.message);
  };
  add(method.input);
  add(method.output);
  return [...messages].flatMap((message) => {
    // Both versions have the filter of uids in common.
    if (mapped.has(message) || message.file.proto.package === "moorage.common") return [];
    const names = word(`(?:${method.parent.name}|${typeScriptName(message)}(?:Schema)?)`);
    const folders = new Set([...code].filter(([, text]) => names.test(text)).map(([file]) => path.dirname(file)));
    const texts = [...code].filter(([file]) => folders.has(path.dirname(file))).map(([, text]) => text);
    return message.fields
      .filter(({ localName, name }) => name !== "items" && !texts.some((text) => word(localName).test(text)))
      .map(({ name }) => `${message.typeName}.${name}`);
  });
}

/** The name of the message's type: those of nested ones are joined by underscores. */
function typeScriptName({ typeName, file }: DescMessage): string {
  return typeName.slice(file.proto.package.length + 1).replaceAll(".", "_");
}

function word(pattern: string): RegExp {
  return new RegExp(`\\b${pattern}\\b`);
}

/** Code outside of v1 that reads and writes a message of v1 whole, by the folder of v1 that it counts for. */
const ELSEWHERE = {
  "vulnerabilities/location-changes.ts": "packages/security/src/security/advisories/location-changes.ts",
};

function codeOf(root: string): Code {
  const folder = path.join(root, "packages/server/src/v1");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
  const own = files.map((name): [string, string] => [name, path.join(folder, name)]);
  const others = Object.entries(ELSEWHERE).map(([name, file]): [string, string] => [name, path.join(root, file)]);
  return new Map([...own, ...others].map(([name, file]) => [name, readFileSync(file, "utf8")]));
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const code = codeOf(path.dirname(import.meta.dirname));
  const methods = SERVICES.flatMap((service) => service.methods);
  const fields = new Set(methods.flatMap((method) => unmapped(method, mappedMessages(), code)));
  const problems = [
    ...unserved(SERVICES, new Set(v1Methods({ readBlob: () => Promise.resolve(undefined) }).keys())).map(
      (name) => `${name} is not served`,
    ),
    ...[...fields].map((name) => `${name} has no mapping`),
  ];
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
