import { create } from "@bufbuild/protobuf";
import { type ScannerAdapter, ScannerAdapterSchema, ScanType } from "@moorage/api/messages";
import { isObject, parseJson } from "@moorage/kernel/lib/json";

const MAX_DEPTH = 16;
const MAX_CAPABILITIES = 16;
const MAX_TYPES = 64;
const MAX_TEXT = 256;
const TYPES: Readonly<Record<string, ScanType>> = { vulnerability: ScanType.VULNERABILITY, sbom: ScanType.SBOM };

/**
 * What an adapter says of itself, from the body of its metadata. Capabilities of other types are left out. Throws a
 * SyntaxError that names the field. Source: scanner adapter API 1.2, ScannerAdapterMetadata.
 */
export function readMetadata(body: Uint8Array): ScannerAdapter {
  const document = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(body), MAX_DEPTH);
  if (!isObject(document)) throw new SyntaxError("it is no JSON object");
  const { scanner, capabilities } = document;
  if (!isObject(scanner)) throw new SyntaxError("scanner: is required");
  if (!Array.isArray(capabilities)) throw new SyntaxError("capabilities: must be a list");
  const name = textOf(scanner["name"]);
  if (name === "") throw new SyntaxError("scanner.name: is required");
  return create(ScannerAdapterSchema, {
    name,
    vendor: textOf(scanner["vendor"]),
    version: textOf(scanner["version"]),
    capabilities: capabilities.slice(0, MAX_CAPABILITIES).flatMap(capabilityOf),
  });
}

function capabilityOf(value: unknown, at: number) {
  if (!isObject(value)) throw new SyntaxError(`capabilities[${at}]: must be an object`);
  // Adapters of API 1.1 state no type.
  const type = TYPES[textOf(value["type"] ?? "vulnerability")];
  if (type === undefined) return [];
  const { additional_attributes: more } = value;
  return [
    {
      type,
      consumesMimeTypes: textsOf(value["consumes_mime_types"], `capabilities[${at}].consumes_mime_types`),
      producesMimeTypes: textsOf(value["produces_mime_types"], `capabilities[${at}].produces_mime_types`),
      sbomMediaTypes: isObject(more)
        ? textsOf(more["sbom_media_types"] ?? [], `capabilities[${at}].additional_attributes.sbom_media_types`)
        : [],
    },
  ];
}

function textsOf(value: unknown, field: string): string[] {
  if (!Array.isArray(value) || value.length > MAX_TYPES || !value.every((each) => textOf(each) !== ""))
    throw new SyntaxError(`${field}: must be a list of at most ${MAX_TYPES} media types`);
  return value.map((each) => textOf(each));
}

/** One line that every database takes; empty for anything but text. */
export function textOf(value: unknown, max = MAX_TEXT): string {
  if (typeof value !== "string") return "";
  return value
    .toWellFormed()
    .replaceAll(/\p{C}+/gu, " ")
    .trim()
    .slice(0, max)
    .toWellFormed();
}
