import { Code } from "@moorage/kernel/errors";
import { httpStatus } from "../status.ts";
import type { Schema } from "./schemas.ts";

const text = { type: "string" };
const fullName = (name: string): string => (name.includes(".") ? name : `google.rpc.${name}`);
/** `name`: of a message of google.rpc, or the full name of one of ours. */
const detail = (name: string, properties: Record<string, Schema>, required: string[]): Schema => ({
  type: "object",
  properties: { "@type": { const: `type.googleapis.com/${fullName(name)}` }, ...properties },
  required: ["@type", ...required],
  additionalProperties: false,
});
const listOf = (fields: string[]): Schema => ({
  type: "array",
  minItems: 1,
  items: {
    type: "object",
    properties: Object.fromEntries(fields.map((field) => [field, text])),
    additionalProperties: false,
  },
});

/** The details that an error may have. Source: AIP-193; docs/contract.md, "Errors". */
const DETAILS: Record<string, Schema> = {
  ErrorInfo: detail(
    "ErrorInfo",
    { reason: text, domain: text, metadata: { type: "object", additionalProperties: text } },
    ["reason", "domain"],
  ),
  BadRequest: detail("BadRequest", { fieldViolations: listOf(["field", "description"]) }, ["fieldViolations"]),
  PreconditionFailure: detail("PreconditionFailure", { violations: listOf(["type", "subject", "description"]) }, [
    "violations",
  ]),
  ResourceInfo: detail("ResourceInfo", { resourceType: text, resourceName: text, owner: text, description: text }, [
    "resourceType",
    "resourceName",
  ]),
  RetryInfo: detail("RetryInfo", { retryDelay: text }, ["retryDelay"]),
  RequestInfo: detail("RequestInfo", { requestId: text }, ["requestId"]),
  "moorage.iam.TermsNotAcceptedDetail": detail(
    "moorage.iam.TermsNotAcceptedDetail",
    { missing: listOf(["id", "label", "url"]) },
    ["missing"],
  ),
};

/** The schemas of an error's body, by name. */
export const ERROR_SCHEMAS: Record<string, Schema> = {
  ...Object.fromEntries(Object.entries(DETAILS).map(([name, schema]) => [fullName(name), schema])),
  "google.rpc.Status": {
    type: "object",
    description: "An error. Exactly one of its details is an ErrorInfo.",
    properties: {
      code: { type: "integer", description: "The gRPC status code.", enum: Object.values(Code) },
      message: { type: "string", description: "What is wrong, for people." },
      details: {
        type: "array",
        items: { oneOf: Object.keys(DETAILS).map((name) => ({ $ref: `#/components/schemas/${fullName(name)}` })) },
      },
    },
    required: ["code", "message", "details"],
    additionalProperties: false,
  },
};

const MEANINGS: Partial<Record<keyof typeof Code, string>> = {
  InvalidArgument:
    "The request is wrong: a BadRequest detail names each field. Or a precondition does not hold: a PreconditionFailure detail names each one.",
  Unauthenticated: "There is no valid token for the platform.",
  PermissionDenied: "The caller may see the resource, but may not do this.",
  NotFound: "It does not exist, or the caller may not see it.",
  AlreadyExists: "The name is taken, or another change was made at the same time.",
  ResourceExhausted: "Too many requests, or too large: retry after Retry-After.",
  Internal: "An unexpected error. The log has it under the request id.",
  Unavailable: "Not available now: retry after Retry-After.",
};

/** What the port answers itself, whatever was asked for. */
const HEAD_TOO_LARGE = "HeadTooLarge";

/** The error responses by name, for `#/components/responses`. */
export const ERROR_RESPONSES: Record<string, Schema> = Object.fromEntries(
  Object.entries({
    ...MEANINGS,
    [HEAD_TOO_LARGE]: "The URL and the headers are too large together: fewer parameters, or a shorter token.",
  }).map(([name, description]) => [
    name,
    {
      description,
      content: { "application/json": { schema: { $ref: "#/components/schemas/google.rpc.Status" } } },
      ...((name === "ResourceExhausted" || name === "Unavailable") && {
        headers: { "Retry-After": { description: "Seconds.", schema: { type: "integer" } } },
      }),
    },
  ]),
);

/** The responses of an operation's errors, by HTTP status. */
export function errorResponses(codes: readonly (keyof typeof Code)[]): Record<string, Schema> {
  return Object.fromEntries(
    codes.map((name) => [String(httpStatus(Code[name])), { $ref: `#/components/responses/${name}` }]),
  );
}

/** The paths, in which every operation may be answered 431 as well. */
export function withHeadLimit(paths: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(paths).map(([path, operations]) => [
      path,
      Object.fromEntries(
        Object.entries(operations as Record<string, Schema>).map(([verb, operation]) => [
          verb,
          {
            ...operation,
            responses: {
              ...(operation["responses"] as Schema),
              431: { $ref: `#/components/responses/${HEAD_TOO_LARGE}` },
            },
          },
        ]),
      ),
    ]),
  );
}
