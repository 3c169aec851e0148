import { type DescField, type DescMessage, type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { EmptySchema } from "@bufbuild/protobuf/wkt";
import { access as accessOption, CapabilitySchema } from "@moorage/api/messages";
import { FieldBehavior } from "@moorage/api/gen/google/api/field_behavior_pb";
import { isV1 } from "@moorage/kernel/core/api-version";
import { camelCase } from "@moorage/kernel/aip/order";
import { orderOf } from "@moorage/kernel/aip/list";
import { DEFAULT_PAGE_SIZE } from "@moorage/kernel/aip/page-query";
import { hasBehavior } from "@moorage/kernel/lib/protojson/fields";
import { isWellKnown } from "@moorage/kernel/lib/protojson/write-wellknown";
import type { Code } from "@moorage/kernel/errors";
import { type Binding, bindingsOf } from "../rest/routes.ts";
import { bodyExample, maskExample } from "./examples.ts";
import { ERROR_RESPONSES, ERROR_SCHEMAS, errorResponses, withHeadLimit } from "./errors.ts";
import { REGISTRY_ERROR, registryPaths } from "./registry-paths.ts";
import { STS_PATHS } from "./token-paths.ts";
import { type Comments, createSchemas, type Schema, type Schemas } from "./schemas.ts";

const SECURITY: readonly Schema[] = [{ bearer: [] }];

export interface DocumentOptions {
  services: readonly DescService[];
  comments: Comments;
  /** The URL of the platform; no slash at the end. */
  baseUrl: string;
  /** The path segments of the tag history; the first is documented. */
  historySegments: readonly string[];
}

interface Place {
  method: DescMethod;
  schemas: Schemas;
  comments: Comments;
}

const ETAG = { ETag: { description: "Identifies this answer, byte for byte.", schema: { type: "string" } } };
const IF_NONE_MATCH = {
  name: "If-None-Match",
  in: "header",
  description: "The ETag of an answer that the caller still has: if the answer would be the same, it is 304.",
  schema: { type: "string" },
};
const MAX_DEPTH = 2;

/**
 * The platform API as OpenAPI 3.1, generated from the descriptors: paths, parameters, bodies, answers, errors, and the
 * capabilities that a method needs. Source: https://spec.openapis.org/oas/v3.1.1.html, docs/contract.md.
 */
export function openApiDocument({ services, comments, baseUrl, historySegments }: DocumentOptions): Schema {
  const schemas = createSchemas(comments);
  const paths: Record<string, Record<string, Schema>> = {};
  for (const [path, bindings] of byShape(bindingsOf(services))) {
    paths[path] = Object.fromEntries(
      bindings.map((binding) => [
        binding.verb.toLowerCase(),
        operation(binding, path, { method: binding.method, schemas, comments }),
      ]),
    );
  }
  return {
    openapi: "3.1.1",
    info: {
      title: "Moorage platform API",
      version: "v2",
      license: { name: "Apache 2.0", identifier: "Apache-2.0" },
      description:
        "The control plane of a container registry. The same methods are served over gRPC, gRPC-Web and Connect on this port. " +
        "Query parameters and fields are taken in camelCase and in snake_case. `/v2beta1/` answers as `/v2/`. " +
        "The methods below `/v1/` are the API before it, over the same resources: docs/api/v1.md compares them.",
    },
    servers: [{ url: baseUrl }],
    tags: [
      ...services
        .filter((service) =>
          service.methods.some((method) => bindingsOf([service]).some((binding) => binding.method === method)),
        )
        .map((service) => ({
          name: tagOf(service),
          ...(comments[service.typeName] !== undefined && { description: comments[service.typeName] }),
        })),
      { name: "Tokens", description: "The token issuer." },
      { name: "Registry", description: "What the registry has beside its protocol, OCI distribution 1.1." },
    ],
    security: SECURITY,
    paths: withHeadLimit({ ...paths, ...STS_PATHS, ...registryPaths(historySegments) }),
    components: {
      schemas: { ...schemas.components, ...ERROR_SCHEMAS, "oci.Error": REGISTRY_ERROR },
      responses: ERROR_RESPONSES,
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description: "A token of this issuer for the platform's audience, by token exchange.",
        },
        registryToken: { type: "http", scheme: "bearer", description: "A token of `/token`." },
        basic: { type: "http", scheme: "basic", description: "A platform token, or a pull token, as the password." },
      },
    },
  };
}

/** Paths that differ only in the names of their variables are one path. Source: OpenAPI 3.1, Paths Object. */
function byShape(bindings: readonly Binding[]): [string, Binding[]][] {
  const shapes = new Map<string, Binding[]>();
  for (const binding of bindings)
    shapes.set(binding.template.shape, [...(shapes.get(binding.template.shape) ?? []), binding]);
  return [...shapes.values()].map((group): [string, Binding[]] => [pathOf(group), group]);
}

function pathOf([first, ...others]: readonly Binding[]): string {
  if (first === undefined) return "";
  const { collection, segments, verb, variables } = first.template;
  const parts = segments.map((segment, index) => {
    const variable = variables.find((each) => each.index === index);
    if (variable === undefined) return segment;
    const names = new Set(
      [first, ...others].map(({ template }) =>
        lastPart(template.variables.find((each) => each.index === index)?.field ?? ""),
      ),
    );
    return `{${names.size === 1 ? lastPart(variable.field) : "uid"}}`;
  });
  return [collection, ...parts].join("/") + (verb === "" ? "" : `:${verb}`);
}

function lastPart(field: string): string {
  return field.slice(field.lastIndexOf(".") + 1);
}

function operation(binding: Binding, path: string, place: Place): Schema {
  const { method } = binding;
  const access = getOption(method, accessOption);
  const names = [...path.matchAll(/\{([^{}]+)\}/g)].map(([, name = ""]) => name);
  const description = place.comments[`${method.parent.typeName}.${method.name}`];
  const isEmpty = method.output.typeName === EmptySchema.typeName;
  const isTagged = binding.verb === "GET";
  const answer = isEmpty
    ? { description: "Done." }
    : {
        description: "The answer.",
        ...(isTagged && { headers: ETAG }),
        content: { "application/json": { schema: place.schemas.refOf(method.output, "answer") } },
      };
  const errors: (keyof typeof Code)[] = [
    "InvalidArgument",
    ...(access.public ? [] : ["Unauthenticated" as const, "PermissionDenied" as const]),
    "NotFound",
    ...(binding.verb === "GET" ? [] : ["AlreadyExists" as const]),
    "ResourceExhausted",
    "Internal",
    "Unavailable",
  ];
  return {
    operationId: idOf(binding),
    tags: [tagOf(method.parent)],
    summary: titleOf(binding),
    ...(description !== undefined && { description }),
    ...(access.public && { security: [] }),
    ...(access.anonymous && { security: [{}, ...SECURITY] }),
    ...(access.capabilities.length > 0 && {
      "x-moorage-capabilities": access.capabilities.map((each) => CapabilitySchema.value[each]?.name ?? String(each)),
    }),
    ...(access.fields.length > 0 && {
      "x-moorage-field-capabilities": Object.fromEntries(
        access.fields.flatMap(({ fields, capability }) =>
          fields.map((field) => [camelCase(field), CapabilitySchema.value[capability]?.name ?? String(capability)]),
        ),
      ),
    }),
    parameters: [
      ...pathParameters(binding, names, place),
      ...queryParameters(binding, place),
      ...(isTagged ? [IF_NONE_MATCH] : []),
    ],
    ...(binding.body !== "" && { requestBody: bodyOf(binding, place) }),
    responses: {
      200: answer,
      ...(isTagged && { 304: { description: "The answer is still the one that If-None-Match names.", headers: ETAG } }),
      ...errorResponses(errors),
    },
  };
}

/** A method with two paths has an operation for each: the one without a parent works at the root. */
function isAtRoot({ method, template }: Binding): boolean {
  const all = bindingsOf([method.parent]).filter((each) => each.method === method);
  return all.length > 1 && template.variables.length === 0;
}

function idOf(binding: Binding): string {
  const { name, parent } = binding.method;
  return `${isV1(parent) ? "v1_" : ""}${parent.name}_${name}${isAtRoot(binding) ? "AtRoot" : ""}`;
}

/** The name under which a service's methods stand together. */
function tagOf(service: DescService): string {
  return isV1(service) ? `${service.name} (v1)` : service.name;
}

/** The method's name in words: `Create role binding`. Methods of v1 are named without what they are about. */
function titleOf(binding: Binding): string {
  const words = binding.method.name.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
  const title = `${words.charAt(0).toUpperCase()}${words.slice(1)}${isAtRoot(binding) ? " at the root" : ""}`;
  return isV1(binding.method.parent) ? `${title} (${binding.method.parent.name}, v1)` : title;
}

function pathParameters({ template, method }: Binding, names: readonly string[], { comments }: Place): Schema[] {
  return template.variables.map((variable, at) => {
    const field = fieldAt(method.input, variable.field);
    const isWide = template.segments[variable.index] === "**";
    // Operations of one path share the names of its variables: what this one takes there is said in words.
    const own = lastPart(variable.field);
    const description = [
      own === names[at] ? "" : `\`${own}\`:`,
      commentOf(field, comments),
      isWide ? "Its slashes may stand as they are, or as %2F." : "",
    ]
      .filter(Boolean)
      .join(" ");
    return {
      name: names[at],
      in: "path",
      required: true,
      ...(description !== "" && { description }),
      schema: { type: "string", minLength: 1 },
    };
  });
}

function queryParameters({ template, body, method }: Binding, { schemas, comments }: Place): Schema[] {
  if (body === "*") return [];
  const inPath = new Set(template.variables.map(({ field }) => field));
  const found: Schema[] = [];
  const visit = (desc: DescMessage, prefix: string, depth: number): void => {
    for (const field of desc.fields) {
      const name = `${prefix}${field.name}`;
      if (inPath.has(name) || name === body || field.fieldKind === "map") continue;
      const isMessage = field.message !== undefined && !isWellKnown(field.message);
      if (isMessage && depth < MAX_DEPTH && field.fieldKind === "message") visit(field.message, `${name}.`, depth + 1);
      if (isMessage && field.fieldKind !== "list") continue;
      const description = [commentOf(field, comments) ?? "", name === "order_by" ? orderText(method) : ""]
        .filter(Boolean)
        .join(" ");
      found.push({
        name: name === "update_mask" ? "updateMask" : name,
        in: "query",
        ...(hasBehavior(field, FieldBehavior.REQUIRED) && { required: true }),
        ...(description !== "" && { description }),
        // A list of messages is one parameter, whose text is JSON.
        ...(isMessage
          ? { content: { "application/json": { schema: schemas.ofField(field, "input") } } }
          : { schema: { ...schemas.ofField(field, "input"), ...hintOf(name, method, body) } }),
      });
    }
  };
  visit(method.input, "", 0);
  return found;
}

/** What helps to fill in a parameter of a list or an update: examples, and the values it may have. */
function hintOf(name: string, method: DescMethod, body: string): Schema {
  if (name === "update_mask") {
    const resource = method.input.fields.find((field) => field.name === body)?.message;
    return resource === undefined ? {} : { examples: [maskExample(resource)] };
  }
  if (name === "page_size") return { default: DEFAULT_PAGE_SIZE };
  const order = name === "order_by" ? orderOf(method) : undefined;
  return order === undefined ? {} : { default: order.fallback, examples: [`${order.fields[0] ?? ""} desc`] };
}

function orderText(method: DescMethod): string {
  const { fields = [] } = orderOf(method) ?? {};
  return fields.length === 0
    ? ""
    : `There are ${fields.join(", ")}, each with asc or desc after it if wanted, several by commas.`;
}

function bodyOf({ body, method, verb, template }: Binding, { schemas }: Place): Schema {
  const { input } = method;
  const list = input.fields.find(({ name, fieldKind }) => name === body && fieldKind === "list");
  if (list !== undefined)
    return { required: true, content: { "application/json": { schema: schemas.ofField(list, "input") } } };
  const message = input.fields.find(({ name }) => name === body)?.message ?? input;
  const inPath = new Set(
    template.variables
      .map(({ field }) => fieldAt(input, field))
      .filter((field) => field?.parent === message)
      .map((field) => field?.jsonName),
  );
  // Fields from the path need not be in the body, and an update has only the fields it changes.
  const left = verb === "PATCH" ? [] : schemas.requiredOf(message).filter((name) => !inPath.has(name));
  const schema =
    left.length === schemas.requiredOf(message).length
      ? schemas.refOf(message, "input")
      : schemas.relaxed(message, left);
  // A body that holds the whole request may be absent where nothing of it is required.
  const isOptional = body === "*" && left.length === 0;
  const example = bodyExample(method);
  return {
    required: !isOptional,
    content: { "application/json": { schema, ...(example !== undefined && { example }) } },
  };
}

function fieldAt(desc: DescMessage, path: string): DescField | undefined {
  const [name, ...rest] = path.split(".");
  const field = desc.fields.find((each) => each.name === name);
  return rest.length === 0 || field?.message === undefined ? field : fieldAt(field.message, rest.join("."));
}

function commentOf(field: DescField | undefined, comments: Comments): string | undefined {
  return field === undefined ? undefined : comments[`${field.parent.typeName}.${field.name}`];
}
