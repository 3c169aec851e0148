import assert from "node:assert/strict";
import { test } from "node:test";
import { hasOption } from "@bufbuild/protobuf";
import {
  AccountAssociationsService,
  AuditEntriesService,
  DeliveriesService,
  EventsService,
  ExternalGroupRoleMappingsService,
  GroupInvitesService,
  GroupsService,
  IdentitiesService,
  IdentityProvidersService,
  ImagesService,
  PingService,
  ReposService,
  RoleBindingsService,
  RolesService,
  SubscriptionsService,
  TagsService,
  TermsService,
} from "@moorage/api";
import { http } from "@moorage/api/gen/google/api/annotations_pb";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { Ajv2020 } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { isUpdatable } from "@moorage/kernel/lib/protojson/fields";
import { Validator } from "@seriousme/openapi-schema-validator";
import { openApiDocument } from "./document.ts";

const SERVICES = [
  GroupsService,
  IdentitiesService,
  RolesService,
  RoleBindingsService,
  GroupInvitesService,
  IdentityProvidersService,
  ExternalGroupRoleMappingsService,
  AccountAssociationsService,
  TermsService,
  AuditEntriesService,
  ReposService,
  TagsService,
  ImagesService,
  PingService,
  SubscriptionsService,
  DeliveriesService,
  EventsService,
];
const document = openApiDocument({
  services: SERVICES,
  comments: COMMENTS,
  baseUrl: "https://moorage.example.com",
  historySegments: ["_service"],
});

interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters: { name: string; in: string; description?: string; schema: { examples?: string[] } }[];
  requestBody?: { content: { "application/json": { schema: object; example?: Record<string, unknown> } } };
  security?: unknown[];
  responses: Record<string, object>;
  "x-moorage-capabilities"?: string[];
}
const paths = document["paths"] as Record<string, Record<string, Operation>>;
const schemas = (
  document["components"] as { schemas: Record<string, { properties: Record<string, object>; required?: string[] }> }
).schemas;

test("the document is valid OpenAPI 3.1", async () => {
  const validator = new Validator();
  const result = await validator.validate(structuredClone(document));
  assert.deepEqual(result.errors, undefined);
  assert.equal(result.valid, true);
});

test("every reference of the document resolves", () => {
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/(\w+)\/([^"]+)"/g)];
  assert.ok(references.length > 100);
  const components = document["components"] as Record<string, Record<string, object>>;
  for (const [, kind = "", name = ""] of references)
    assert.ok(components[kind]?.[name] !== undefined, `${kind}/${name}`);
});

test("every method with a REST path is an operation of its own, with a description", () => {
  const all = Object.values(paths).flatMap((path) => Object.values(path));
  const operations = all.filter(({ operationId }) => operationId.includes("Service_"));
  assert.equal(new Set(all.map(({ operationId }) => operationId)).size, all.length);
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(
    ids.filter((id) => id !== "GroupsService_CreateGroupAtRoot").toSorted(),
    SERVICES.flatMap((service) =>
      service.methods.filter((method) => hasOption(method, http)).map((method) => `${service.name}_${method.name}`),
    ).toSorted(),
  );
  for (const { operationId, description } of operations) assert.ok(description?.length > 10, operationId);
});

test("a summary is a few words and not the description, and no operation is numbered", () => {
  for (const { operationId, summary, description } of Object.values(paths).flatMap((path) => Object.values(path))) {
    assert.match(summary, /^[A-Z][a-z ]{3,60}$/, operationId);
    assert.notEqual(description.split(/[.:]/)[0], summary, operationId);
    assert.doesNotMatch(operationId, /_\d+$/);
  }
  assert.equal(paths["/iam/v2/roleBindings:batchCreate"]?.["post"]?.summary, "Batch create role bindings");
});

test("every body has an example that its schema accepts, and every mask one that fits the resource", () => {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  formats.default(ajv);
  ajv.addSchema(document, "api");
  for (const { operationId, requestBody, parameters } of Object.values(paths).flatMap((path) => Object.values(path))) {
    if (requestBody === undefined || !operationId.includes("Service_")) continue;
    const { schema, example } = requestBody.content["application/json"];
    assert.ok(example !== undefined, operationId);
    const absolute = JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/');
    assert.ok(ajv.validate(JSON.parse(absolute) as object, example), `${operationId}: ${ajv.errorsText()}`);
    const mask = parameters.find(({ name }) => name === "updateMask")?.schema.examples?.[0];
    if (!operationId.includes("_Update")) continue;
    const method = SERVICES.flatMap(({ methods }) => methods).find(
      (each) => `${each.parent.name}_${each.name}` === operationId,
    );
    const resource = method?.input.fields[0]?.message ?? assert.fail(operationId);
    for (const names of [mask?.split(",") ?? [], Object.keys(example)]) {
      assert.ok(names.length > 0, operationId);
      for (const name of names) {
        const field =
          resource.fields.find(({ jsonName }) => jsonName === name) ?? assert.fail(`${operationId}: ${name}`);
        assert.ok(isUpdatable(field), `${operationId}: ${name}`);
      }
    }
  }
});

test("what an operation takes as parent is called so, where its path shares a variable with others too", () => {
  const creations = Object.values(paths).flatMap(({ post }) => (post?.operationId.includes("_Create") ? [post] : []));
  assert.ok(creations.length > 8);
  for (const { operationId, parameters } of creations) {
    if (operationId.endsWith("AtRoot")) continue;
    const parent = parameters.find((each) => each.in === "path");
    assert.match(parent?.description ?? "", /^`parent`: /, operationId);
  }
});

test("every variable of a path is a parameter of each of its operations", () => {
  for (const [path, operations] of Object.entries(paths)) {
    const names = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    for (const { parameters, operationId } of Object.values(operations)) {
      assert.deepEqual(
        parameters.filter((each) => each.in === "path").map(({ name }) => name),
        names,
        operationId,
      );
    }
  }
});

test("a list takes the parameters of all lists and its own filters", () => {
  const names = paths["/registry/v2/repos"]?.["get"]?.parameters.map(({ name }) => name) ?? [];
  for (const name of [
    "page_size",
    "page_token",
    "order_by",
    "skip",
    "name",
    "uidp.descendants_of",
    "uidp.children_of",
    "uidp.ids",
    "uidp.in_root",
  ])
    assert.ok(names.includes(name), name);
});

test("an update has a mask, and its body is the resource without required fields", () => {
  const update = paths["/registry/v2/repos/{uid}"]?.["patch"] as Operation & {
    requestBody: { content: { "application/json": { schema: { required?: string[]; properties: object } } } };
  };
  assert.deepEqual(
    update.parameters.map(({ name }) => name),
    ["uid", "updateMask", "validate_only"],
  );
  const { schema } = update.requestBody.content["application/json"];
  assert.equal(schema.required, undefined);
  assert.ok("description" in schema.properties);
  assert.deepEqual(schemas["registry.v2.Repo.Input"]?.required, ["name"]);
});

test("the schema of an answer lacks input-only fields, and requires the fields that every answer has", () => {
  const [answer, input] = [schemas["registry.v2.SyncConfig"], schemas["registry.v2.SyncConfig.Input"]];
  assert.ok(!("password" in (answer?.properties ?? {})));
  assert.deepEqual(input?.properties["password"], {
    description: COMMENTS["moorage.registry.v2.SyncConfig.password"],
    writeOnly: true,
    type: "string",
    maxLength: 16_384,
  });
  assert.deepEqual(schemas["registry.v2.Tag"]?.required, ["uid", "name", "digest", "deprecated", "bundles"]);
});

test("an operation names the capabilities that its method needs, and a public one needs no token", () => {
  assert.deepEqual(paths["/registry/v2/tags/{uid}"]?.["delete"]?.["x-moorage-capabilities"], ["CAP_TAG_DELETE"]);
  assert.deepEqual(paths["/ping/v2/ping"]?.["get"]?.security, []);
  assert.deepEqual(Object.keys(paths["/registry/v2/tags/{uid}"]?.["delete"]?.responses ?? {}), [
    "200",
    "400",
    "401",
    "403",
    "404",
    "409",
    "429",
    "431",
    "500",
    "503",
  ]);
});
