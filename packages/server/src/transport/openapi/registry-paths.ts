import type { Schema } from "./schemas.ts";

const text = { type: "string" };
const DIGEST = { ...text, examples: ["sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"] };
const FORM = "application/x-www-form-urlencoded";

/** An error of the registry. Source: OCI distribution specification 1.1, "Error codes". */
export const REGISTRY_ERROR: Schema = {
  type: "object",
  description: "An error of the registry.",
  properties: {
    errors: {
      type: "array",
      minItems: 1,
      items: { type: "object", properties: { code: text, message: text, detail: {} }, required: ["code", "message"] },
    },
  },
  required: ["errors"],
};

const REGISTRY_TOKEN = {
  type: "object",
  properties: {
    token: { ...text, description: "Grants what the caller may have of the scopes it asked for." },
    access_token: { ...text, description: "The same token." },
    expires_in: { type: "number", description: "Seconds." },
    issued_at: { type: "string", format: "date-time" },
    scope: { ...text, description: "What was granted; to a POST alone." },
    token_type: { ...text, description: "Bearer; to a POST alone." },
  },
  required: ["token", "access_token", "expires_in", "issued_at"],
};

const error = { content: { "application/json": { schema: { $ref: "#/components/schemas/oci.Error" } } } };
const errors = {
  400: { description: "A parameter is wrong; the message names it.", ...error },
  401: { description: "There is no token that is good for this.", ...error },
  403: { description: "The token is for something else.", ...error },
  404: { description: "There is no such image or tag, or the caller may not see it.", ...error },
  429: { description: "Too many requests: retry after Retry-After.", ...error },
};

const NAME = {
  name: "name",
  in: "path",
  required: true,
  description: "The image, as `acme/web`: its slashes stand as they are.",
  schema: { ...text, minLength: 1 },
};
const TAG = { name: "tag", in: "path", required: true, description: "The tag.", schema: { ...text, minLength: 1 } };

function query(name: string, description: string, schema: Schema = text): Schema {
  return { name, in: "query", description, schema };
}

/**
 * The token endpoint of the registry and the history of tags. The registry's protocol itself is in no document of this
 * kind. Source: docs/contract.md, "Tag history"; the token specification of the registry.
 */
export function registryPaths(historySegments: readonly string[]): Record<string, Schema> {
  const [segment] = historySegments;
  return {
    "/token": {
      get: {
        ...tokenOperation("registryToken", "Registry token"),
        security: [{ basic: [] }, { bearer: [] }, {}],
        parameters: [
          query("scope", "What the token is to grant, as `repository:acme/web:pull,push`. Repeatable.", {
            type: "array",
            items: text,
          }),
          query("service", "The registry's host. Any is taken."),
        ],
      },
      post: {
        ...tokenOperation("registryTokenByForm", "Registry token by form"),
        security: [],
        parameters: [],
        requestBody: { required: true, content: { [FORM]: { schema: TOKEN_FORM } } },
      },
    },
    ...(segment !== undefined && { [`/v2/{name}/${segment}/history/{tag}`]: { get: HISTORY } }),
    "/v2/{name}/_oci/tag-history/{tag}": { get: TAG_HISTORY },
  };
}

function tokenOperation(operationId: string, summary: string): Schema {
  return {
    operationId,
    tags: ["Registry"],
    summary,
    description:
      "A token for the registry, of what the caller may have of the scopes it asks for; without credentials an " +
      "anonymous one. As the challenge of the registry asks for it.",
    responses: {
      200: { description: "The token.", content: { "application/json": { schema: REGISTRY_TOKEN } } },
      400: errors[400],
      401: errors[401],
      429: errors[429],
    },
  };
}

const TOKEN_FORM = {
  type: "object",
  properties: {
    grant_type: { ...text, enum: ["password", "refresh_token"] },
    username: text,
    password: { ...text, description: "A platform token, or the password of a pull token." },
    refresh_token: text,
    scope: text,
    service: text,
    client_id: text,
  },
  required: ["grant_type"],
};

const HISTORY: Schema = {
  operationId: "tagHistory",
  tags: ["Registry"],
  summary: "Tag history",
  description:
    "The digests that the tag came to point to, oldest first, at most 1000. A deleted tag has its history too.",
  security: [{ registryToken: [] }],
  parameters: [
    NAME,
    TAG,
    query("start", "The first time, included: ISO 8601, a date or a time."),
    query("end", "The last time, included; a date includes its whole day."),
  ],
  responses: {
    200: {
      description: "The history.",
      content: {
        "application/json": {
          schema: {
            type: "object",
            properties: {
              history: {
                type: "array",
                maxItems: 1000,
                items: {
                  type: "object",
                  properties: { updateTimestamp: { type: "string", format: "date-time" }, digest: DIGEST },
                  required: ["updateTimestamp", "digest"],
                },
              },
            },
            required: ["history"],
          },
        },
      },
    },
    ...errors,
  },
};

const TAG_HISTORY: Schema = {
  operationId: "ociTagHistory",
  tags: ["Registry"],
  summary: "Tag history as an index",
  description:
    "Each manifest that the tag came to point to, and each of its deletions, newest first, as an image index. A Link " +
    "leads to the next page.",
  security: [{ registryToken: [] }],
  parameters: [
    NAME,
    TAG,
    query("n", "At most so many, 1000 at most.", { type: "integer", minimum: 0 }),
    query("since", "Only what is later than this time, RFC 3339."),
    query("before", "Only what is earlier than this time, RFC 3339."),
    query("digest", "Only what concerns this digest.", DIGEST),
  ],
  responses: {
    200: {
      description: "The history.",
      headers: { Link: { description: "The next page, as RFC 8288.", schema: text } },
      content: {
        "application/vnd.oci.image.index.v1+json": {
          schema: {
            type: "object",
            properties: {
              schemaVersion: { const: 2 },
              mediaType: text,
              manifests: {
                type: "array",
                items: {
                  type: "object",
                  properties: {
                    mediaType: text,
                    size: { type: "integer" },
                    digest: DIGEST,
                    annotations: { type: "object", additionalProperties: text },
                  },
                  required: ["mediaType", "size", "digest", "annotations"],
                },
              },
            },
            required: ["schemaVersion", "mediaType", "manifests"],
          },
        },
      },
    },
    ...errors,
  },
};
