import assert from "node:assert/strict";
import {
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type Message,
  type MessageInitShape,
  type MessageShape,
} from "@bufbuild/protobuf";
import * as v2 from "@moorage/api";
import { SecurityAdvisory } from "@moorage/api/v1/advisory";
import { Artifacts } from "@moorage/api/v1/libraries";
import {
  AccountAssociationsCheckRequest_AccountType,
  ExternalGroupRoleMappings,
  GroupAccountAssociations,
  GroupInvites,
  Groups,
  Identities,
  IdentityProviders,
  RoleBindings,
  Roles,
  Terms,
} from "@moorage/api/v1/iam";
import { Registry, Vulnerabilities } from "@moorage/api/v1/registry";
import { Advisories, ReviewStatus } from "@moorage/api/v1/vulnerabilities";
import { pathOf } from "../../../../kernel/src/core/image-path.ts";
import { DIGEST, type Platform } from "../platform.ts";
import { type MakeRequest, type Place, requestsOf } from "../requests.ts";

/** A request for every method of v1 that the owner of the organization may make, by the method's full name. */
export function v1RequestsOf(platform: Platform, place: Place): Map<string, MakeRequest> {
  const { group, repo, digest } = place;
  const others = requestsOf(platform, place);
  /** A request for a method of v2, with what it is about made for it. */
  const like = async <I extends DescMessage>(method: DescMethodUnary<I>): Promise<MessageShape<I>> => {
    const make = others.get(`${method.parent.typeName}.${method.name}`);
    if (make === undefined) throw new Error(`there is no request for ${method.toString()}`);
    return (await make()) as MessageShape<I>;
  };
  const uidLike = async (method: DescMethodUnary): Promise<string> => uidIn(await like(method));
  const table = new Map<string, MakeRequest>();
  const add = <I extends DescMessage>(
    method: DescMethod & { input: I },
    make: () => Promise<MessageInitShape<I>> | MessageInitShape<I>,
  ): void => {
    table.set(`${method.parent.typeName}.${method.name}`, async () => create(method.input, await make()));
  };
  let count = 0;
  const name = (): string => `v1-${(count += 1)}`;
  const everywhere = { uidp: { descendantsOf: group } };

  const groups = Groups.method;
  add(groups.create, () => ({ parent: group, group: { name: name() } }));
  add(groups.update, async () => ({ id: await uidLike(v2.GroupsService.method.deleteGroup), name: name() }));
  add(groups.list, () => everywhere);
  add(groups.delete, async () => ({ id: await uidLike(v2.GroupsService.method.deleteGroup) }));

  const roles = Roles.method;
  const role = (): Promise<string> => uidLike(v2.RolesService.method.deleteRole);
  add(roles.create, () => ({ parentId: group, role: { name: name(), capabilities: ["repo.list"] } }));
  add(roles.update, async () => ({ id: await role(), name: name() }));
  add(roles.list, () => ({}));
  add(roles.delete, async () => ({ id: await role() }));

  const bindings = RoleBindings.method;
  const wanted = async (): Promise<{ identity: string; role: string }> => ({
    identity: await platform.identity(group),
    role: await platform.role("viewer"),
  });
  const binding = (): Promise<string> => uidLike(v2.RoleBindingsService.method.deleteRoleBinding);
  add(bindings.create, async () => ({ parent: group, roleBinding: await wanted() }));
  add(bindings.createBatch, async () => ({ parent: group, roleBindings: [await wanted(), await wanted()] }));
  add(bindings.update, async () => ({ id: await binding(), ...(await wanted()) }));
  add(bindings.list, () => everywhere);
  add(bindings.delete, async () => ({ id: await binding() }));

  const identities = Identities.method;
  add(identities.create, () => ({ parentId: group, identity: { name: name() } }));
  add(identities.update, async () => ({ id: await platform.identity(group), name: name() }));
  add(identities.list, () => everywhere);
  add(identities.lookup, async () => {
    const { issuer, subject } = await like(v2.IdentitiesService.method.lookupIdentity);
    return { issuer, subject };
  });
  add(identities.delete, async () => ({ id: await platform.identity(group) }));

  const invites = GroupInvites.method;
  add(invites.create, async () => ({ group, role: await platform.role("viewer"), ttl: { seconds: 604_800n } }));
  add(invites.list, () => ({ group }));
  add(invites.delete, async () => ({ id: await uidLike(v2.GroupInvitesService.method.deleteGroupInvite) }));

  const providers = IdentityProviders.method;
  const oidc = { issuer: "https://login.example.com", clientId: "moorage" };
  const configuration = { case: "oidc" as const, value: oidc };
  const provider = (): Promise<string> => uidLike(v2.IdentityProvidersService.method.deleteIdentityProvider);
  add(providers.create, () => ({ parentId: group, identityProvider: { name: name(), configuration } }));
  add(providers.update, async () => ({ id: await provider(), name: name(), configuration }));
  add(providers.list, () => everywhere);
  add(providers.delete, async () => ({ id: await provider() }));

  const mappings = ExternalGroupRoleMappings.method;
  const mapping = (): Promise<string> =>
    uidLike(v2.ExternalGroupRoleMappingsService.method.deleteExternalGroupRoleMapping);
  add(mappings.create, async () => ({
    parentId: await provider(),
    mapping: { externalGroupId: "engineers", roleUidp: await platform.role("viewer"), scope: group },
  }));
  add(mappings.get, async () => ({ uid: await mapping() }));
  add(mappings.list, () => everywhere);
  add(mappings.delete, async () => ({ id: await mapping() }));
  add(mappings.batchDelete, async () => {
    const { parent, names } = await like(
      v2.ExternalGroupRoleMappingsService.method.batchDeleteExternalGroupRoleMappings,
    );
    return { parentId: parent, ids: names };
  });

  const accounts = GroupAccountAssociations.method;
  const account = (): Promise<string> => uidLike(v2.AccountAssociationsService.method.deleteAccountAssociation);
  const amazon = { account: "123456789012" };
  add(accounts.create, async () => ({
    group: (await like(v2.AccountAssociationsService.method.createAccountAssociation)).parent,
    name: name(),
    amazon,
  }));
  add(accounts.update, async () => ({ group: await account(), name: name(), amazon }));
  add(accounts.list, async () => ({ group: await account() }));
  add(accounts.delete, async () => ({ group: await account() }));
  add(accounts.check, async () => ({
    group: await account(),
    accountType: AccountAssociationsCheckRequest_AccountType.GOOGLE,
  }));

  add(Terms.method.acceptTerms, async () => {
    const { documentIds } = await like(v2.TermsService.method.acceptTerms);
    return { group, documentIds };
  });
  add(Terms.method.listAccepted, () => ({ group }));

  const registry = Registry.method;
  const newRepo = (): Promise<string> => uidLike(v2.ReposService.method.deleteRepo);
  const newTag = async (): Promise<{ uid: string; name: string }> => {
    const { uid, name: its } = await platform.tag(repo);
    return { uid, name: its };
  };
  add(registry.createRepo, () => ({ parentId: group, repo: { name: name() } }));
  add(registry.updateRepo, async () => ({ id: await newRepo(), name: name() }));
  add(registry.listRepos, () => everywhere);
  add(registry.deleteRepo, async () => ({ id: await newRepo() }));
  add(registry.createTag, () => ({ repoId: repo, tag: { name: name(), digest: DIGEST } }));
  add(registry.updateTag, async () => {
    const { uid, name: its } = await newTag();
    return { id: uid, name: its, digest };
  });
  add(registry.deleteTag, async () => ({ id: (await newTag()).uid }));
  add(registry.listTags, () => ({ uidp: { childrenOf: repo } }));
  add(registry.getRepoTagsSummary, () => ({ repoId: repo }));
  add(registry.listEolTags, () => everywhere);
  add(registry.listTagHistory, async () => ({ parentId: (await newTag()).uid }));
  add(registry.getSbom, async () => {
    await like(v2.SbomsService.method.getSbom);
    return { repoId: repo, digest };
  });
  add(registry.getRawSbom, async () => {
    await like(v2.SbomsService.method.getRawSbom);
    return { repoId: repo, digest };
  });
  const ofImage = { repoId: repo, digest };
  add(registry.getImageConfig, () => ofImage);
  add(registry.getArchs, () => ofImage);
  add(registry.getSize, () => ofImage);
  add(registry.getVulnReport, async () => {
    await like(v2.SbomsService.method.getSbom);
    return ofImage;
  });
  add(registry.listManifestMetadata, () => ({
    repoId: repo,
    items: [{ filter: { case: "imageDigest" as const, value: digest } }],
  }));
  add(registry.getPackageVersionMetadata, async () => {
    const { package: its } = await like(v2.VersionsService.method.getPackageVersionMetadata);
    return { package: its };
  });
  add(registry.getSyncStatus, async () => ({ repoId: await uidLike(v2.ReposService.method.getRepoSync) }));
  add(registry.listSyncStatuses, () => ({ registryId: group }));

  const reports = Vulnerabilities.method;
  const byName = async (): Promise<{ repo: string; tag: string }> => ({
    repo: await pathOf(platform.reader, repo),
    tag: (await platform.tag(repo, { digest })).name,
  });
  add(reports.listVulnReports, () => ({ repoId: repo, digest }));
  add(reports.getRawVulnReport, () => ({ digest }));
  add(reports.listVulnCountReports, byName);
  add(reports.listCumulativeVulnCountReports, byName);

  const advisories = Advisories.method;
  const advisory = (): Promise<string> => uidLike(v2.AdvisoriesService.method.deleteAdvisory);
  const aliases = ["CVE-2026-1"];
  add(advisories.create, () => ({ parentId: group, advisory: { artifactName: name(), aliases } }));
  add(advisories.list, () => everywhere);
  add(advisories.update, async () => ({ id: await advisory(), artifactName: name(), aliases }));
  add(advisories.delete, async () => ({ id: await advisory() }));
  add(advisories.createAdvisoryEvent, async () => ({
    parentId: (await like(v2.AdvisoriesService.method.createAdvisoryEvent)).parent,
    advisoryEvent: { type: { case: "fixed" as const, value: { fixedVersion: "1.2.3" } } },
  }));
  add(advisories.listAdvisoryEvents, async () => ({
    parentId: (await like(v2.AdvisoriesService.method.listAdvisoryEvents)).parent,
  }));
  add(advisories.updateAdvisoryEvent, async () => ({
    id: (await like(v2.AdvisoriesService.method.updateAdvisoryEvent)).advisoryEvent?.uid ?? "",
    status: ReviewStatus.APPROVED,
    type: { case: "fixed" as const, value: { fixedVersion: "1.2.3" } },
  }));

  const documents = SecurityAdvisory.method;
  add(documents.listDocuments, () => ({}));
  add(documents.listVulnerabilityMetadata, () => ({}));
  add(documents.listResolvedVulnsReports, async () => {
    const { tag } = await byName();
    return { imageRefs: [{ repo, tags: [tag] }] };
  });

  const libraries = Artifacts.method;
  add(libraries.list, async () => {
    await like(v2.ArtifactsService.method.listArtifacts);
    return {};
  });
  add(libraries.listVersions, async () => ({
    id: (await like(v2.ArtifactsService.method.listArtifactVersions)).artifactId,
  }));
  add(libraries.getArtifactCount, () => ({}));
  return table;
}

/** What the request is about. */
function uidIn(request: Message): string {
  assert.ok("uid" in request && typeof request.uid === "string", request.$typeName);
  return request.uid;
}
