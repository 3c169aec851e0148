import { Ajv, type ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import openVex from "./schemas/openvex-0.2.0.json" with { type: "json" };
import spdx from "./schemas/spdx-2.3.json" with { type: "json" };

/** What the official schema finds wrong with an SPDX 2.3 document; undefined for a valid one. */
export function spdxProblem(document: unknown): string | undefined {
  return problemOf((spdxSchema ??= compiled(new Ajv({ strict: false, allErrors: true }), spdx)), document);
}

/** What the official schema finds wrong with an OpenVEX 0.2.0 document; undefined for a valid one. */
export function openVexProblem(document: unknown): string | undefined {
  return problemOf((openVexSchema ??= compiled(new Ajv2020({ strict: false, allErrors: true }), openVex)), document);
}

let spdxSchema: ValidateFunction | undefined;
let openVexSchema: ValidateFunction | undefined;

function compiled(ajv: Ajv | Ajv2020, schema: object): ValidateFunction {
  formats.default(ajv);
  ajv.addFormat("iri", (text) => URL.canParse(text));
  return ajv.compile(schema);
}

function problemOf(validate: ValidateFunction, document: unknown): string | undefined {
  return validate(document) ? undefined : JSON.stringify(validate.errors, null, 2);
}
