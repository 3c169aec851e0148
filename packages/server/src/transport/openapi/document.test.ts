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
const document = openApiDocument({ services: SERVICES, comments: COMMENTS, baseUrl: "https://moorage.example.com" });

interface Operation {
  operationId: string;
  description: string;
  parameters: { name: string; in: string }[];
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
  const operations = Object.values(paths).flatMap((path) => Object.values(path));
  const ids = operations.map(({ operationId }) => operationId);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual(
    ids.filter((id) => id !== "GroupsService_CreateGroup_2").toSorted(),
    SERVICES.flatMap((service) =>
      service.methods.filter((method) => hasOption(method, http)).map((method) => `${service.name}_${method.name}`),
    ).toSorted(),
  );
  for (const { operationId, description } of operations) assert.ok(description?.length > 10, operationId);
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
    ["uid", "updateMask"],
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
    "500",
    "503",
  ]);
});
