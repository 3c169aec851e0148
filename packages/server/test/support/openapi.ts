import { AssertionError } from "node:assert/strict";
import {
  AccountAssociationsService,
  AdvisoriesService,
  AdvisoryExportsService,
  AuditEntriesService,
  DeliveriesService,
  DiffsService,
  EolTagsService,
  EventsService,
  ExternalGroupRoleMappingsService,
  FindingsService,
  GroupInvitesService,
  GroupsService,
  IdentitiesService,
  IdentityProvidersService,
  ImagesService,
  SbomsService,
  SearchService,
  StorageService,
  DownloadsService,
  PullsService,
  UsageService,
  ExposuresService,
  OperationsService,
  PingService,
  ReposService,
  RoleBindingsService,
  RolesService,
  ArtifactPoliciesService,
  BlocksService,
  ScannersService,
  ScansService,
  QuotasService,
  RegistryUpstreamsService,
  ReplicationsService,
  SecurityAdvisoryService,
  SignatureExemptionsService,
  SignaturePoliciesService,
  SignaturesService,
  SignersService,
  TrustRootsService,
  SubscriptionsService,
  TagsService,
  TermsService,
  UpstreamsService,
  VersionsService,
} from "@moorage/api";
import { COMMENTS } from "@moorage/api/gen/moorage/comments";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import formats from "ajv-formats";
import { openApiDocument } from "../../src/transport/openapi/document.ts";
import { V1_SERVICES } from "../../src/v1/index.ts";
import { type Binding, bindingsOf, compileRoutes } from "../../src/transport/rest/routes.ts";

/** The services that have REST paths. */
export const REST_SERVICES = [
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
  SbomsService,
  SearchService,
  StorageService,
  DownloadsService,
  PullsService,
  UsageService,
  ExposuresService,
  OperationsService,
  DiffsService,
  EolTagsService,
  VersionsService,
  PingService,
  SubscriptionsService,
  DeliveriesService,
  EventsService,
  AdvisoriesService,
  FindingsService,
  ArtifactPoliciesService,
  BlocksService,
  UpstreamsService,
  ScannersService,
  ScansService,
  AdvisoryExportsService,
  SecurityAdvisoryService,
  SignatureExemptionsService,
  SignaturePoliciesService,
  SignaturesService,
  SignersService,
  TrustRootsService,
  QuotasService,
  RegistryUpstreamsService,
  ReplicationsService,
  ...V1_SERVICES,
];

const document = openApiDocument({
  services: REST_SERVICES,
  comments: COMMENTS,
  baseUrl: "http://127.0.0.1",
  historySegments: [],
});
const routes = compileRoutes(bindingsOf(REST_SERVICES), (binding: Binding) => binding);
const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema(document, "api");
const compiled = new Map<string, ValidateFunction>();

/**
 * Throws when an answer of the platform API differs from `/openapi.json`: the method's message with status 200, an
 * AIP-193 error with any other status, no body with a 304 to a GET. Paths outside of the API are ignored.
 */
export function checkAnswer(method: string, path: string, { status, text }: { status: number; text: string }): void {
  const [pathname = ""] = path.split("?", 1);
  const match = routes.match(method === "HEAD" ? "GET" : method, pathname);
  if (match === undefined || method === "HEAD") return;
  if (status === 304 && method === "GET" && text === "") return;
  const output = status === 200 && "target" in match ? match.target.method.output.typeName : "google.rpc.Status";
  const problem =
    output === "google.protobuf.Empty"
      ? text === ""
        ? undefined
        : "has a body"
      : problemOf(output.replace(/^moorage\./, ""), text);
  if (problem !== undefined)
    throw new AssertionError({
      message: `${method} ${path}: the answer ${status} is not what the document of the API says: ${problem}\n${text.slice(0, 2000)}`,
    });
}

function problemOf(name: string, text: string): string | undefined {
  const validate = compiled.get(name) ?? ajv.compile({ $ref: `api#/components/schemas/${name}` });
  compiled.set(name, validate);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return "is not JSON";
  }
  return validate(value) ? undefined : ajv.errorsText(validate.errors);
}
