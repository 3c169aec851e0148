import { randomUUID } from "node:crypto";
import { create, type DescMessage, type DescMethod, type Message, type MessageInitShape } from "@bufbuild/protobuf";
import {
  AccessService,
  AccountAssociationsService,
  AdvisoriesService,
  AdvisoryExportsService,
  ArtifactPoliciesService,
  ArtifactsService,
  AttentionService,
  BlocksService,
  AuditEntriesService,
  CapabilitiesService,
  Capability,
  CheckAccountAssociationRequest_AccountProviderType,
  Ecosystem,
  EventsService,
  DeliveriesService,
  DiffsService,
  EolTagsService,
  ExternalGroupRoleMappingsService,
  FindingsService,
  GroupInvitesService,
  GroupsService,
  IdentitiesService,
  IdentityProvidersService,
  ImagesService,
  LibraryFindingsService,
  SbomsService,
  OperationsService,
  PersonalTokensService,
  PingService,
  ReposService,
  ReviewState,
  QuotasService,
  RoleBindingsService,
  RolesService,
  ScannersService,
  SignatureAction,
  SignatureExemptionsService,
  SignaturePoliciesService,
  SignaturesService,
  SignersService,
  TrustRootsService,
  ScansService,
  SearchService,
  StorageService,
  DownloadsService,
  PullsService,
  UsageService,
  ExposuresService,
  SecurityAdvisoryService,
  SecurityTokenService,
  SessionsService,
  SubscriptionsService,
  TagsService,
  TermsService,
  RegistryUpstreamsService,
  ReplicationsService,
  UpstreamsService,
  VersionsService,
} from "@moorage/api";
import { addProduct } from "./products.ts";
import { parentOf } from "../../../kernel/src/lib/uid.ts";
import { pathOf } from "../../../kernel/src/core/image-path.ts";
import type { Database } from "../../../kernel/src/store/index.ts";
import { addDeliveries, STATE } from "./deliveries.ts";
import { DIGEST, type Json, type Platform, TERMS_DOCUMENT } from "./platform.ts";
import { addArtifact } from "./artifacts.ts";
import { newTrustedRoot } from "./certificate.ts";
import { newKey } from "./signing.ts";
import { addScan, addScanner, adapterUrl } from "./scan-rows.ts";

/** Makes a request that the owner of the organization may make, on resources created for it. */
export type MakeRequest = () => Promise<Message>;

/** The context of the requests: a group of the organization, a repo there with an image, and the image's digest. */
export interface Place {
  group: string;
  repo: string;
  digest: string;
}

/** As if the image's own layer was a document that is attached to it. */
async function attachOwnLayer(tx: Database, repo: string, digest: string): Promise<void> {
  const row = await tx.selectFrom("attachments").select("repo").where("repo", "=", repo).executeTakeFirst();
  if (row !== undefined) return;
  const { target: layer } = await tx
    .selectFrom("manifest_references")
    .select("target")
    .where("repo", "=", repo)
    .where("digest", "=", digest)
    .limit(1)
    .executeTakeFirstOrThrow();
  const attached = { subject: digest, manifest: digest };
  await tx
    .insertInto("attachments")
    .values({ ...attached, repo, via: "", from_time: 0, until_time: null })
    .execute();
  await tx
    .insertInto("attached_readings")
    .values({
      ...attached,
      state: 2,
      attempts: 1,
      reason: "",
      holder: "",
      hold_until: 0,
      create_time: 0,
      finish_time: 0,
    })
    .execute();
  await tx
    .insertInto("attached_documents")
    .values({
      ...attached,
      n: 0,
      layer,
      media_type: "",
      kind: "spdx",
      reason: "",
      time: 0,
      packages: 1,
      statements: 0,
      document_id: "",
      author: "",
    })
    .execute();
}

/** A request for every method of the API, by its full name. */
export function requestsOf(platform: Platform, { group, repo, digest }: Place): Map<string, MakeRequest> {
  const table = new Map<string, MakeRequest>();
  const add = <I extends DescMessage>(
    method: DescMethod & { input: I },
    make: () => Promise<MessageInitShape<I>> | MessageInitShape<I>,
  ): void => {
    table.set(`${method.parent.typeName}.${method.name}`, async () => create(method.input, await make()));
  };
  let count = 0;
  const name = (): string => `asked-${(count += 1)}`;
  const uidOf = async (made: Promise<{ uid: string }>): Promise<string> => (await made).uid;
  const role = (): Promise<string> =>
    uidOf(platform.ok("POST", `/iam/v2/roles/${group}`, { name: name(), capabilities: ["CAP_REPO_LIST"] }));
  const identity = (): Promise<string> => platform.identity(group);
  const viewer = (): Promise<string> => platform.role("viewer");
  const binding = async (): Promise<string> => platform.bind(group, await identity(), await viewer());
  const everywhere = { uidp: { descendantsOf: group } };

  const groups = GroupsService.method;
  add(groups.getGroup, () => ({ uid: group }));
  add(groups.listGroups, () => everywhere);
  add(groups.createGroup, () => ({ parent: group, group: { name: name() } }));
  add(groups.updateGroup, async () => ({
    group: { uid: await uidOf(platform.group(group)), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(groups.deleteGroup, async () => ({ uid: await uidOf(platform.group(group)) }));

  add(AccessService.method.explainAccess, async () => ({
    subject: { case: "identity" as const, value: await identity() },
    operation: { case: "method" as const, value: "ReposService/GetRepo" },
    resource: repo,
  }));

  const identities = IdentitiesService.method;
  add(identities.getIdentity, async () => ({ uid: await identity() }));
  add(identities.listIdentities, () => everywhere);
  add(identities.lookupIdentity, async () => {
    const claimMatch = { issuer: "https://issuer.example", subject: name() };
    await platform.ok("POST", `/iam/v2/identities/${group}`, { name: name(), claimMatch });
    return claimMatch;
  });
  add(identities.createIdentity, () => ({ parent: group, identity: { name: name() } }));
  add(identities.updateIdentity, async () => ({
    identity: { uid: await identity(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(identities.checkIdentity, async () => ({ uid: await identity() }));
  add(identities.deleteIdentity, async () => ({ uid: await identity() }));

  const roles = RolesService.method;
  add(roles.getRole, async () => ({ uid: await role() }));
  add(roles.listRoles, () => ({}));
  add(roles.createRole, () => ({ parent: group, role: { name: name(), capabilities: [Capability.CAP_REPO_LIST] } }));
  add(roles.updateRole, async () => ({
    role: { uid: await role(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(roles.deleteRole, async () => ({ uid: await role() }));

  const bindings = RoleBindingsService.method;
  const wanted = async () => ({ identityUid: await identity(), roleUid: await viewer() });
  add(bindings.getRoleBinding, async () => ({ uid: await binding() }));
  add(bindings.listRoleBindings, () => everywhere);
  add(bindings.createRoleBinding, async () => ({ parent: group, roleBinding: await wanted() }));
  add(bindings.batchCreateRoleBindings, async () => ({
    parent: group,
    requests: [{ roleBinding: await wanted() }, { roleBinding: await wanted() }],
  }));
  add(bindings.updateRoleBinding, async () => ({
    roleBinding: { uid: await binding(), roleUid: await role() },
    updateMask: { paths: ["role_uid"] },
  }));
  add(bindings.deleteRoleBinding, async () => ({ uid: await binding() }));

  const invites = GroupInvitesService.method;
  const week = { seconds: 604_800n };
  const invite = (roleUid: string): Promise<Json> =>
    platform.ok("POST", `/iam/v2/groupInvites/${group}`, { roleUid, ttl: "604800s" });
  const newInvite = async (): Promise<string> => (await invite(await viewer())).uid;
  // The identity that accepts it gets no more rights than it has.
  const powerless = (): Promise<string> => uidOf(platform.ok("POST", `/iam/v2/roles/${group}`, { name: name() }));
  add(invites.getGroupInvite, async () => ({ uid: await newInvite() }));
  add(invites.listGroupInvites, () => everywhere);
  add(invites.createGroupInvite, async () => ({ parent: group, groupInvite: { roleUid: await viewer(), ttl: week } }));
  add(invites.acceptGroupInvite, async () => ({ code: String((await invite(await powerless()))["code"]) }));
  add(invites.updateGroupInvite, async () => ({
    groupInvite: { uid: await newInvite(), email: "ann@example.com" },
    updateMask: { paths: ["email"] },
  }));
  add(invites.deleteGroupInvite, async () => ({ uid: await newInvite() }));

  const sessions = SessionsService.method;
  const session = async (): Promise<string> => {
    const own = await platform.token(await identity());
    const headers = { "sec-fetch-site": "same-origin" };
    await platform.call("POST", "/session", { token: own, headers });
    const { body } = await platform.call("GET", "/iam/v2/sessions", { token: own });
    return (body["sessions"] as Json[])[0]?.uid ?? "";
  };
  add(sessions.listSessions, async () => ({ identity: parentOf(await session()) }));
  add(sessions.deleteSession, async () => ({ uid: await session() }));

  const personal = PersonalTokensService.method;
  const personalToken = (): Promise<string> =>
    uidOf(platform.ok("POST", "/iam/v2/personalTokens", { name: name(), capabilities: ["CAP_REPO_LIST"] }));
  add(personal.getPersonalToken, async () => ({ uid: await personalToken() }));
  add(personal.listPersonalTokens, async () => ({ identity: parentOf(await personalToken()) }));
  add(personal.createPersonalToken, async () => ({ personalToken: { name: name(), groups: [group] } }));
  add(personal.deletePersonalToken, async () => ({ uid: await personalToken() }));

  const providers = IdentityProvidersService.method;
  const oidc = { issuer: "https://login.example.com", clientId: "moorage" };
  const provider = (): Promise<string> =>
    uidOf(platform.ok("POST", `/iam/v2/identityProviders/${group}`, { name: name(), oidc }));
  add(providers.getIdentityProvider, async () => ({ uid: await provider() }));
  add(providers.listIdentityProviders, () => everywhere);
  add(providers.createIdentityProvider, () => ({
    parent: group,
    identityProvider: { name: name(), configuration: { case: "oidc" as const, value: oidc } },
  }));
  add(providers.updateIdentityProvider, async () => ({
    identityProvider: { uid: await provider(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(providers.deleteIdentityProvider, async () => ({ uid: await provider() }));

  const mappings = ExternalGroupRoleMappingsService.method;
  const mapped = async () => ({ externalGroupId: "engineers", roleUid: await viewer(), scope: group });
  const mapping = async (): Promise<string> =>
    uidOf(platform.ok("POST", `/iam/v2/externalGroupRoleMappings/${await provider()}`, await mapped()));
  const parent = (uid: string): string => uid.slice(0, uid.lastIndexOf("/"));
  add(mappings.getExternalGroupRoleMapping, async () => ({ uid: await mapping() }));
  add(mappings.listExternalGroupRoleMappings, () => everywhere);
  add(mappings.createExternalGroupRoleMapping, async () => ({
    parent: await provider(),
    externalGroupRoleMapping: await mapped(),
  }));
  add(mappings.updateExternalGroupRoleMapping, async () => ({
    externalGroupRoleMapping: { uid: await mapping(), roleUid: await role() },
    updateMask: { paths: ["role_uid"] },
  }));
  add(mappings.deleteExternalGroupRoleMapping, async () => ({ uid: await mapping() }));
  add(mappings.batchDeleteExternalGroupRoleMappings, async () => {
    const uid = await mapping();
    return { parent: parent(uid), names: [uid] };
  });

  const accounts = AccountAssociationsService.method;
  const newPlace = (): Promise<string> => uidOf(platform.group(group));
  const account = async (): Promise<string> =>
    uidOf(platform.ok("POST", `/iam/v2/accountAssociations/${await newPlace()}`, { name: name() }));
  add(accounts.getAccountAssociation, async () => ({ uid: await account() }));
  add(accounts.listAccountAssociations, () => everywhere);
  add(accounts.createAccountAssociation, async () => ({
    parent: await newPlace(),
    accountAssociation: { name: name(), amazon: { account: "123456789012" } },
  }));
  add(accounts.updateAccountAssociation, async () => ({
    accountAssociation: { uid: await account(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(accounts.deleteAccountAssociation, async () => ({ uid: await account() }));
  // The association has no account at Google, so no request is sent.
  add(accounts.checkAccountAssociation, async () => ({
    uid: await account(),
    providerType: CheckAccountAssociationRequest_AccountProviderType.GOOGLE,
  }));

  add(AuditEntriesService.method.listAuditEntries, () => everywhere);
  add(CapabilitiesService.method.testCapabilities, () => ({ uid: group }));
  add(TermsService.method.acceptTerms, () => ({ group, documentIds: [TERMS_DOCUMENT] }));
  add(TermsService.method.listTermsAcceptances, () => ({ group }));

  const repos = ReposService.method;
  const newRepo = (): Promise<string> => uidOf(platform.repo(group));
  add(repos.getRepo, () => ({ uid: repo }));
  add(repos.listRepos, () => everywhere);
  add(repos.createRepo, () => ({ parent: group, repo: { name: name() } }));
  add(repos.updateRepo, async () => ({
    repo: { uid: await newRepo(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(repos.deleteRepo, async () => ({ uid: await newRepo() }));
  add(repos.getRepoReadme, () => ({ uid: repo }));
  // Names below .invalid never resolve: nothing is ever copied from there.
  const newMirror = (): Promise<string> =>
    uidOf(platform.repo(group, { syncConfig: { source: "registry.invalid/app" } }));
  add(repos.getRepoSync, async () => ({ uid: await newMirror() }));
  add(repos.syncRepo, async () => ({ uid: await newMirror() }));
  add(repos.previewTagRetention, () => ({ uid: repo, tagPolicy: { retention: [{ keepLast: 1 }] } }));
  add(repos.updateRepoReadme, async () => ({
    repoReadme: { uid: await newRepo(), content: "asked" },
    updateMask: { paths: ["content"] },
  }));

  const tags = TagsService.method;
  const newTag = (): Promise<string> => uidOf(platform.tag(repo));
  add(tags.getTag, async () => ({ uid: await newTag() }));
  add(tags.listTags, () => ({ uidp: { childrenOf: repo } }));
  add(tags.listTagMoves, () => ({ repoUid: repo, tag: "1.0" }));
  add(tags.createTag, () => ({ parent: repo, tag: { name: name(), digest: DIGEST } }));
  add(tags.deleteTag, async () => ({ uid: await newTag() }));
  add(tags.promoteTags, () => ({ repoUid: repo, promotions: [{ name: name(), digest }] }));
  add(tags.rollbackTags, async () => {
    const made = name();
    for (const each of [digest, DIGEST]) await platform.tag(repo, { name: made, digest: each });
    return { repoUid: repo, rollbacks: [{ name: made }] };
  });
  add(tags.importMoves, () => ({
    repoUid: repo,
    moves: [{ tag: name(), digest, time: { seconds: 1_700_000_000n, nanos: 0 } }],
  }));

  add(EventsService.method.listEvents, () => ({ group }));
  add(EventsService.method.watchEvents, () => ({ group }));
  add(ImagesService.method.getArchitectures, () => ({ repoUid: repo, digest }));
  add(ImagesService.method.getSize, () => ({ repoUid: repo, digest }));
  add(SubscriptionsService.method.getSubscriptionSample, () => ({ parent: group }));
  // Nothing listens there.
  add(SubscriptionsService.method.testSink, () => ({ parent: group, sink: "https://127.0.0.1:9/" }));
  add(ImagesService.method.getBase, () => ({ repoUid: repo, digest }));
  add(SearchService.method.search, () => ({ query: "app", uidp: { descendantsOf: group } }));
  add(StorageService.method.listStorage, () => everywhere);
  add(PullsService.method.listPulls, () => everywhere);
  add(DownloadsService.method.listDownloads, () => everywhere);
  add(UsageService.method.listUsage, () => everywhere);
  add(UsageService.method.reportUsage, () => ({ source: "cluster", references: [{ image: "acme/app", digest }] }));
  add(ExposuresService.method.listExposures, () => ({ ...everywhere, vulnerability: "CVE-2021-44228" }));

  const artifacts = ArtifactsService.method;
  const artifact = async (): Promise<string> => (await addArtifact(platform, group, { name: name() })).uid;
  add(artifacts.listArtifacts, async () => {
    await artifact();
    return { ...everywhere, ecosystems: [Ecosystem.JAVASCRIPT] };
  });
  const version = async (): Promise<string> => {
    const { uid } = await platform.reader
      .selectFrom("artifact_versions")
      .select("uid")
      .where("parent", "=", await artifact())
      .executeTakeFirstOrThrow();
    return uid;
  };
  add(artifacts.getArtifact, async () => ({ uid: await artifact() }));
  add(artifacts.getArtifactReadme, async () => ({ uid: await artifact() }));
  add(artifacts.deleteArtifact, async () => ({ uid: await artifact() }));
  add(artifacts.listArtifactVersions, async () => ({ artifactId: await artifact() }));
  add(artifacts.listArtifactImages, async () => ({ artifactId: await artifact() }));
  add(artifacts.getArtifactVersion, async () => ({ uid: await version() }));
  add(artifacts.updateArtifactVersion, async () => ({ artifactVersion: { uid: await version(), deprecation: "old" } }));
  add(artifacts.deleteArtifactVersion, async () => ({ uid: await version() }));
  add(artifacts.getArtifactCount, () => ({}));
  // A group has one policy and one upstream for each ecosystem.
  const policies = ArtifactPoliciesService.method;
  const free = async (): Promise<string> => (await platform.group(group)).uid;
  const policy = async (): Promise<string> =>
    (await platform.ok("POST", `/libraries/v2/artifactPolicies/${await free()}`, { ecosystem: "ECOSYSTEM_PYTHON" }))
      .uid;
  add(policies.getArtifactPolicy, async () => ({ uid: await policy() }));
  add(policies.listArtifactPolicies, () => everywhere);
  add(policies.createArtifactPolicy, async () => ({
    parent: await free(),
    artifactPolicy: { ecosystem: Ecosystem.JAVASCRIPT },
  }));
  add(policies.updateArtifactPolicy, async () => ({
    artifactPolicy: { uid: await policy(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(policies.deleteArtifactPolicy, async () => ({ uid: await policy() }));
  add(BlocksService.method.listBlocks, () => everywhere);
  const upstreams = UpstreamsService.method;
  const url = "https://registry.example.com";
  const upstream = async (): Promise<string> =>
    (await platform.ok("POST", `/libraries/v2/upstreams/${await free()}`, { ecosystem: "ECOSYSTEM_PYTHON", url })).uid;
  add(upstreams.getUpstream, async () => ({ uid: await upstream() }));
  add(upstreams.listUpstreams, () => everywhere);
  add(upstreams.createUpstream, async () => ({
    parent: await free(),
    upstream: { ecosystem: Ecosystem.JAVASCRIPT, url },
  }));
  add(upstreams.updateUpstream, async () => ({
    upstream: { uid: await upstream(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(upstreams.deleteUpstream, async () => ({ uid: await upstream() }));
  const replications = ReplicationsService.method;
  const replication = async (): Promise<string> =>
    (
      await platform.ok("POST", `/registry/v2/replications/${await free()}`, {
        name: "elsewhere",
        destination: "registry.example.com/acme",
      })
    ).uid;
  add(replications.getReplication, async () => ({ uid: await replication() }));
  add(replications.listReplications, () => everywhere);
  add(replications.createReplication, async () => ({
    parent: await free(),
    replication: { name: "elsewhere", destination: "registry.example.com/acme" },
  }));
  add(replications.updateReplication, async () => ({
    replication: { uid: await replication(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(replications.deleteReplication, async () => ({ uid: await replication() }));
  add(replications.runReplication, async () => ({ uid: await replication() }));
  add(replications.stopReplication, async () => ({ uid: await replication() }));
  add(replications.listReplicationItems, async () => ({ uid: await replication() }));
  const registries = RegistryUpstreamsService.method;
  const registry = async (): Promise<string> =>
    (await platform.ok("POST", `/registry/v2/upstreams/${await free()}`, { registry: "docker.io" })).uid;
  add(registries.getRegistryUpstream, async () => ({ uid: await registry() }));
  add(registries.listRegistryUpstreams, () => everywhere);
  add(registries.createRegistryUpstream, async () => ({
    parent: await free(),
    registryUpstream: { registry: "quay.io" },
  }));
  add(registries.updateRegistryUpstream, async () => ({
    registryUpstream: { uid: await registry(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(registries.deleteRegistryUpstream, async () => ({ uid: await registry() }));
  add(registries.detachRegistryUpstream, async () => ({ uid: await registry() }));
  add(registries.followRegistryUpstream, async () => {
    const followed = { registry: "registry.invalid", follow: {} };
    return { uid: (await platform.ok("POST", `/registry/v2/upstreams/${await free()}`, followed)).uid };
  });
  add(LibraryFindingsService.method.listLibraryFindings, () => everywhere);
  for (const method of OperationsService.methods.filter(({ name }) => !/^(?!Preview).*Feed$/.test(name)))
    add(method, () => ({}));
  add(AttentionService.method.listAttention, () => ({ uidp: { descendantsOf: group } }));
  const feeds = OperationsService.method;
  const source = { format: "kev", licence: "CC0-1.0", address: "http://127.0.0.1:1/kev.json" };
  const feedName = (): string => `asked-${randomUUID()}`;
  const feed = async (): Promise<string> =>
    (await platform.ok("POST", "/operations/v2/feeds?acceptLicence=true", { ...source, name: feedName() })).name;
  // An installation has a hundred feeds at most.
  let stays: Promise<string> | undefined;
  const sameFeed = (): Promise<string> => (stays ??= feed());
  add(feeds.createFeed, () => ({ feed: { ...source, name: feedName() }, acceptLicence: true }));
  add(feeds.updateFeed, async () => ({
    feed: { name: await sameFeed(), licence: "MIT" },
    updateMask: { paths: ["licence"] },
    acceptLicence: true,
  }));
  add(feeds.deleteFeed, async () => ({ name: await feed() }));
  add(feeds.refreshFeed, async () => ({ name: await sameFeed() }));
  add(DiffsService.method.getDiff, () => ({ repoUid: repo, from: digest, to: digest }));
  add(EolTagsService.method.listEolTags, () => everywhere);
  add(VersionsService.method.getPackageVersionMetadata, async () => {
    await addProduct(platform);
    return { package: "engine" };
  });
  add(SbomsService.method.getSbom, async () => {
    // Images are not read in tests that do not turn it on; as if it was and holds nothing.
    await platform.transact((tx) => tx.updateTable("image_catalogs").set({ state: 2, finish_time: 0 }).execute());
    return { repoUid: repo, digest };
  });
  add(SbomsService.method.getRawSbom, async () => {
    await platform.transact((tx) => attachOwnLayer(tx, repo, digest));
    return { repoUid: repo, digest };
  });
  add(SbomsService.method.getAttachments, () => ({ repoUid: repo, digest }));

  add(FindingsService.method.listFindings, () => ({ uidp: { descendantsOf: group } }));
  add(FindingsService.method.listFindingDays, () => ({ uidp: { descendantsOf: group } }));
  add(FindingsService.method.listUnknownImages, () => ({ uidp: { descendantsOf: group } }));
  add(FindingsService.method.getCoverage, () => ({ repoUid: repo, digest }));

  const subscriptions = SubscriptionsService.method;
  const sink = "http://127.0.0.1:9/";
  const subscription = (): Promise<string> => uidOf(platform.subscription(group));
  add(subscriptions.getSubscription, async () => ({ uid: await subscription() }));
  add(subscriptions.listSubscriptions, () => everywhere);
  add(subscriptions.createSubscription, () => ({ parent: group, subscription: { sink } }));
  add(subscriptions.deleteSubscription, async () => ({ uid: await subscription() }));
  add(subscriptions.pauseSubscription, async () => ({ uid: await subscription() }));
  add(subscriptions.resumeSubscription, async () => ({ uid: await subscription() }));
  add(subscriptions.rotateSubscriptionSecret, async () => ({ uid: await subscription() }));
  add(subscriptions.testSubscription, async () => ({ uid: await subscription() }));
  // Inserted into the database, since a delivery that the server sends itself differs at each call.
  const delivery = async (): Promise<string> => {
    const parent = await subscription();
    const [uid = ""] = await platform.transact((tx) => addDeliveries(tx, parent, [{ state: STATE.delivered }]));
    return uid;
  };
  add(DeliveriesService.method.getDelivery, async () => ({ uid: await delivery() }));
  add(DeliveriesService.method.listDeliveries, () => everywhere);
  add(DeliveriesService.method.redeliverEvent, async () => ({ uid: await delivery() }));
  add(subscriptions.redeliverEvents, async () => ({ uid: await subscription(), startTime: { seconds: 0n } }));

  const advisories = AdvisoriesService.method;
  const manual = { detection: { manual: {} } };
  const advisory = (): Promise<Json> =>
    platform.ok("POST", `/vulnerabilities/v2/advisories/${group}`, {
      artifactName: name(),
      aliases: ["CVE-2026-1234"],
      events: [manual],
    });
  const ofAdvisory = (): Promise<string> => uidOf(advisory());
  add(advisories.getAdvisory, async () => ({ uid: await ofAdvisory() }));
  add(advisories.listAdvisories, () => everywhere);
  const decided = async (): Promise<string> => {
    const body = {
      artifactName: name(),
      aliases: ["CVE-2026-1"],
      events: [{ detection: { manual: {} }, reviewState: "APPROVED" }],
    };
    await platform.ok("POST", `/vulnerabilities/v2/advisories/${group}`, body);
    return group;
  };
  add(AdvisoryExportsService.method.getVexDocument, async () => ({ group: await decided() }));
  add(AdvisoryExportsService.method.getImageVexDocument, async () => {
    const artifactName = await pathOf(platform.reader, repo);
    const events = [{ detection: { manual: {} }, reviewState: "APPROVED" }];
    const aliases = [`CVE-2026-${(count += 1)}`];
    await platform.ok("POST", `/vulnerabilities/v2/advisories/${group}`, {
      artifactName,
      artifactType: "OCI_IMAGE",
      aliases,
      events,
    });
    return { repoUid: repo, reference: digest };
  });
  add(AdvisoryExportsService.method.getOsvRecords, async () => ({ group: await decided() }));
  add(SecurityAdvisoryService.method.listDocuments, () => everywhere);
  add(SecurityAdvisoryService.method.listVulnerabilityMetadata, () => everywhere);
  add(SecurityAdvisoryService.method.listResolvedVulnsReports, async () => {
    const tag = await platform.tag(repo, { digest });
    return { imageRefs: [{ repo, tags: [tag.name] }] };
  });
  add(advisories.createAdvisory, () => ({
    parent: group,
    advisory: { artifactName: name(), aliases: ["CVE-2026-1"] },
  }));
  add(advisories.updateAdvisory, async () => ({
    advisory: { uid: await ofAdvisory(), origin: "asked" },
    updateMask: { paths: ["origin"] },
  }));
  add(advisories.deleteAdvisory, async () => ({ uid: await ofAdvisory() }));
  add(advisories.createAdvisoryEvent, async () => ({
    parent: await ofAdvisory(),
    advisoryEvent: { type: { case: "fixed" as const, value: { fixedVersion: "1.2.3" } } },
  }));
  add(advisories.listAdvisoryEvents, async () => ({ parent: await ofAdvisory() }));
  add(advisories.updateAdvisoryEvent, async () => ({
    advisoryEvent: {
      uid: ((await advisory())["events"] as Json[])[0]?.uid ?? "",
      reviewState: ReviewState.APPROVED,
    },
    updateMask: { paths: ["review_state"] },
  }));

  const signers = SignersService.method;
  const keys = (): object[] => [{ pem: newKey().pem }];
  const signer = (): Promise<string> =>
    uidOf(platform.ok("POST", `/registry/v2/signers/${group}`, { name: name(), keys: keys() }));
  add(signers.getSigner, async () => ({ uid: await signer() }));
  add(signers.listSigners, () => everywhere);
  add(signers.createSigner, () => ({ parent: group, signer: { name: name(), keys: keys() } }));
  add(signers.updateSigner, async () => ({
    signer: { uid: await signer(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(signers.deleteSigner, async () => ({ uid: await signer() }));
  const roots = TrustRootsService.method;
  const sigstore = (): object => ({ name: name(), trustedRoot: newTrustedRoot() });
  const trustRoot = (): Promise<string> => uidOf(platform.ok("POST", `/registry/v2/trustRoots/${group}`, sigstore()));
  add(roots.getTrustRoot, async () => ({ uid: await trustRoot() }));
  add(roots.listTrustRoots, () => everywhere);
  add(roots.createTrustRoot, () => ({ parent: group, trustRoot: sigstore() }));
  add(roots.updateTrustRoot, async () => ({
    trustRoot: { uid: await trustRoot(), trustedRoot: newTrustedRoot() },
    updateMask: { paths: ["trusted_root"] },
  }));
  add(roots.deleteTrustRoot, async () => ({ uid: await trustRoot() }));
  add(SignaturesService.method.listImageSignatures, () => ({ repoUid: repo, digest }));
  add(SignaturesService.method.getSignatureDecision, () => ({ repoUid: repo, digest }));

  const signing = SignaturePoliciesService.method;
  const draft = async (): Promise<object> => ({
    name: name(),
    on: [SignatureAction.PULL],
    rules: [{ name: "image", signers: [await signer()] }],
  });
  const signingPolicy = async (): Promise<string> =>
    uidOf(platform.ok("POST", `/registry/v2/signaturePolicies/${group}`, await draft()));
  add(signing.getSignaturePolicy, async () => ({ uid: await signingPolicy() }));
  add(signing.listSignaturePolicies, () => everywhere);
  add(signing.createSignaturePolicy, async () => ({ parent: group, signaturePolicy: await draft() }));
  add(signing.updateSignaturePolicy, async () => ({
    signaturePolicy: { uid: await signingPolicy(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(signing.deleteSignaturePolicy, async () => ({ uid: await signingPolicy() }));
  add(signing.previewSignaturePolicy, async () => ({ parent: group, signaturePolicy: await draft() }));
  const exemptions = SignatureExemptionsService.method;
  const soonMs = (): number => platform.clock.nowMs() + 3_600_000;
  const exempted = { repo, digest, reason: "asked" };
  const exemption = async (): Promise<string> =>
    uidOf(
      platform.ok("POST", `/registry/v2/signatureExemptions/${await signingPolicy()}`, {
        ...exempted,
        expireTime: new Date(soonMs()).toISOString(),
      }),
    );
  add(exemptions.getSignatureExemption, async () => ({ uid: await exemption() }));
  add(exemptions.listSignatureExemptions, () => everywhere);
  add(exemptions.createSignatureExemption, async () => ({
    parent: await signingPolicy(),
    signatureExemption: { ...exempted, expireTime: { seconds: BigInt(Math.trunc(soonMs() / 1_000)) } },
  }));
  add(exemptions.deleteSignatureExemption, async () => ({ uid: await exemption() }));

  const quotas = QuotasService.method;
  const quota = async (): Promise<string> =>
    uidOf(platform.ok("POST", `/registry/v2/quotas/${await newPlace()}`, { bytes: "1000" }));
  add(quotas.getQuota, async () => ({ uid: await quota() }));
  add(quotas.listQuotas, () => everywhere);
  add(quotas.createQuota, async () => ({ parent: await newPlace(), quota: { bytes: 1000n } }));
  add(quotas.updateQuota, async () => ({
    quota: { uid: await quota(), softPercent: 70 },
    updateMask: { paths: ["soft_percent"] },
  }));
  add(quotas.deleteQuota, async () => ({ uid: await quota() }));

  const scanners = ScannersService.method;
  const scanner = (): Promise<string> => addScanner(platform, group);
  add(scanners.getScanner, async () => ({ uid: await scanner() }));
  add(scanners.listScanners, () => everywhere);
  add(scanners.createScanner, async () => ({ parent: group, scanner: { name: name(), url: await adapterUrl() } }));
  add(scanners.updateScanner, async () => ({
    scanner: { uid: await scanner(), description: "asked" },
    updateMask: { paths: ["description"] },
  }));
  add(scanners.deleteScanner, async () => ({ uid: await scanner() }));
  add(scanners.checkScanner, async () => ({ uid: await scanner() }));
  const scans = ScansService.method;
  const scan = async (): Promise<string> => addScan(platform, repo, await scanner(), digest);
  add(scans.getScan, async () => ({ uid: await scan() }));
  add(scans.listScans, () => everywhere);
  add(scans.scanImage, async () => ({ repoUid: repo, digest, scanner: await scanner() }));
  add(scans.getScanReport, async () => ({ uid: await scan() }));
  add(scans.listScanVulnerabilities, async () => ({ uid: await scan() }));

  add(PingService.method.ping, () => ({}));
  add(SecurityTokenService.method.exchange, () => ({}));
  add(SecurityTokenService.method.exchangeRefreshToken, () => ({}));
  return table;
}
