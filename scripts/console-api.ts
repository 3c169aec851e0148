// The messages and methods of the platform API as the console uses them (packages/console/src/api/gen): plain JSON, no
// protobuf in the browser.
import {
  type DescEnum,
  type DescField,
  type DescMessage,
  type DescMethod,
  type DescService,
  getOption,
  hasOption,
  ScalarType,
} from "@bufbuild/protobuf";
import { http as httpOption } from "@moorage/api/gen/google/api/annotations_pb";
import * as api from "@moorage/api/messages";
import { isV1 } from "../packages/kernel/src/core/api-version.ts";
import { isWellKnown } from "../packages/kernel/src/lib/protojson/write-wellknown.ts";
import { isAlwaysPrinted } from "../packages/server/src/transport/openapi/schemas.ts";

const HEAD = "// Made by scripts/gen/main.ts out of proto/: change it there.\n";

const services = Object.values(api).filter(
  (value) => typeof value === "object" && "kind" in value && value.kind === "service" && !isV1(value),
) as DescService[];

/** The modules by the names of their files: one for each area of the API. */
export function consoleFiles(): Map<string, string> {
  const areas = new Set(services.filter(({ methods }) => methods.some(isCalled)).map(areaOf));
  return new Map([...areas].map((area) => [`${area}.ts`, areaModule(area)]));
}

/** `iam` of `moorage.iam.v2`. */
function areaOf({ file }: { file: DescService["file"] }): string {
  return file.proto.package.split(".")[1] ?? "";
}

/** Whether the method can be called by HTTP and JSON. */
function isCalled(method: DescMethod): boolean {
  return hasOption(method, httpOption);
}

/** The module of an area: the methods of its services, and every type that they use. */
function areaModule(area: string): string {
  const types = new Map<string, string>();
  const methods = services
    .filter((service) => areaOf(service) === area)
    .flatMap((service) => service.methods)
    .filter(isCalled)
    .map((method) => methodText(method, types));
  return `${HEAD}import { method } from "../method.ts";\n\n${[...types.values()].join("\n")}\n${methods.join("\n")}`;
}

function methodText(method: DescMethod, types: Map<string, string>): string {
  const { pattern, body } = getOption(method, httpOption);
  if (pattern.case === undefined || pattern.case === "custom") throw new Error(`${method.name} has no HTTP verb`);
  const path = pattern.value.replaceAll(/\{([a-z0-9_.]+)(=\*\*)?[^}]*\}/g, (_, field: string, many?: string) => {
    return `{${camel(field)}${many === undefined ? "" : "=**"}}`;
  });
  const [input, output] = [typeOf(method.input, "input", types), typeOf(method.output, "answer", types)];
  const parts = [pattern.case.toUpperCase(), path, camel(body)].map((part) => JSON.stringify(part)).join(", ");
  return `export const ${method.localName} = method<${input}, ${output}>(${parts});`;
}

/** The name of the message's type, which is written when it is used for the first time. */
function typeOf(message: DescMessage, form: "answer" | "input", types: Map<string, string>): string {
  const known = wellKnown(message);
  if (known !== undefined) return known;
  const name = `${nameOf(message)}${form === "input" && !message.name.endsWith("Request") ? "Input" : ""}`;
  if (types.has(name)) return name;
  types.set(name, "");
  const fields = message.fields.map((field) => {
    const isSet = form === "answer" && isAlwaysPrinted(field);
    return `  ${field.jsonName}${isSet ? "" : "?"}: ${valueOf(field, form, types)};`;
  });
  types.set(name, `export interface ${name} {\n${fields.join("\n")}\n}`);
  return name;
}

function valueOf(field: DescField, form: "answer" | "input", types: Map<string, string>): string {
  const one =
    field.message !== undefined
      ? typeOf(field.message, form, types)
      : field.enum !== undefined
        ? enumOf(field.enum, types)
        : scalarOf(field.scalar);
  if (field.fieldKind === "list") return `${one.includes("|") ? `(${one})` : one}[]`;
  if (field.fieldKind === "map") return `Record<string, ${one}>`;
  return one;
}

function enumOf(desc: DescEnum, types: Map<string, string>): string {
  const name = nameOf(desc);
  const values = desc.values.map((value) => JSON.stringify(value.name)).join(" | ");
  if (!types.has(name)) types.set(name, `export type ${name} = ${values};`);
  return name;
}

/** `Repo` of `moorage.registry.v2.Repo`, and `ImageLayer` of a message `Layer` in `Image`. */
function nameOf(desc: DescMessage | DescEnum): string {
  const { package: area } = desc.file.proto;
  return desc.typeName.slice(area.length + 1).replaceAll(".", "");
}

/** Source: ProtoJSON. */
function wellKnown(message: DescMessage): string | undefined {
  if (message.typeName === "google.protobuf.Empty") return "Record<string, never>";
  if (!isWellKnown(message)) return undefined;
  return message.typeName === "google.protobuf.Struct" ? "Record<string, unknown>" : "string";
}

function scalarOf(scalar: ScalarType | undefined): string {
  switch (scalar) {
    case ScalarType.BOOL:
      return "boolean";
    case ScalarType.INT32:
    case ScalarType.UINT32:
    case ScalarType.SINT32:
    case ScalarType.FIXED32:
    case ScalarType.SFIXED32:
    case ScalarType.DOUBLE:
    case ScalarType.FLOAT:
      return "number";
    // Integers of 64 bits are text, and so are bytes.
    default:
      return "string";
  }
}

function camel(path: string): string {
  return path.replaceAll(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
}
