// Part 2: a repo, an identity and a role binding, by REST and by gRPC on the same port.
import { IdentitiesService, ReposService, RoleBindingsService, RolesService } from "@moorage/api";
import { createClient, type Interceptor } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, heading, show } from "./show.ts";
import { rest, restOk, type Stage } from "./stage.ts";

type Named = { uid: string; name: string; description: string };
type Binding = { uid: string; identity: Named & { subject: string }; role: Named; group: Named };
type Failure = { code: number; message: string };

/** A gRPC transport to the server that sends a token with every call. */
export function grpcTransport(url: string, token: string): ReturnType<typeof createGrpcTransport> {
  const authorize: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${token}`);
    return next(request);
  };
  return createGrpcTransport({ baseUrl: url, interceptors: [authorize], defaultTimeoutMs: 30_000 });
}

/** Creates, lists, reads, changes and deletes by REST. */
export async function playRest({ url, token, bootstrap: { organization }, issuer }: Stage): Promise<void> {
  heading("2a. The platform API by REST");
  const repos = `${url}/registry/v2/repos`;
  const created = await restOk<Named>(`${repos}/${organization.uid}`, "POST", token, { name: "first" });
  show(`POST /registry/v2/repos/<${organization.name}> {"name": "first"}`, `uid …${created.uid.slice(-16)}`);
  const list = await restOk<{ repos: Named[]; totalCount: string }>(
    `${repos}?uidp.descendants_of=${organization.uid}`,
    "GET",
    token,
  );
  expect(
    list.repos.some(({ uid }) => uid === created.uid),
    "the list does not hold the new repo",
  );
  show(
    `GET /registry/v2/repos?uidp.descendants_of=<${organization.name}>`,
    `${list.repos.map(({ name }) => name).join(", ")}; totalCount ${list.totalCount}`,
  );
  const read = await restOk<Named>(`${repos}/${created.uid}`, "GET", token);
  show("GET /registry/v2/repos/<uid>", `name ${read.name}`);
  const changed = await restOk<Named>(`${repos}/${created.uid}`, "PATCH", token, { description: "my first repo" });
  expect(
    changed.description === "my first repo" && changed.name === "first",
    "the change was not made, or changed more",
  );
  show('PATCH /registry/v2/repos/<uid> {"description": …}', `description "${changed.description}"`);

  const identity = await restOk<Named>(`${url}/iam/v2/identities/${organization.uid}`, "POST", token, {
    name: "ci",
    claimMatch: { issuer, subject: "ci" },
  });
  show(
    `POST /iam/v2/identities/<${organization.name}> {"name": "ci", "claimMatch": …}`,
    `uid …${identity.uid.slice(-16)}`,
  );
  const {
    roles: [viewer],
  } = await restOk<{ roles: Named[] }>(`${url}/iam/v2/roles?name=viewer`, "GET", token);
  expect(viewer?.name === "viewer", "there is no role named viewer");
  const binding = await restOk<Binding>(`${url}/iam/v2/roleBindings/${organization.uid}`, "POST", token, {
    identityUid: identity.uid,
    roleUid: viewer.uid,
  });
  show(
    `POST /iam/v2/roleBindings/<${organization.name}>`,
    `${binding.identity.name} is ${binding.role.name} of ${binding.group.name}`,
  );

  for (const path of [
    `/iam/v2/roleBindings/${binding.uid}`,
    `/iam/v2/identities/${identity.uid}`,
    `/registry/v2/repos/${created.uid}`,
  ]) {
    await restOk(`${url}${path}`, "DELETE", token);
  }
  const gone = await rest<Failure>(`${repos}/${created.uid}`, "GET", token);
  expect(gone.status === 404 && gone.body.code === 5, `a deleted repo answers ${gone.status}`);
  show(
    "DELETE the three, and GET the repo again",
    `HTTP ${gone.status}, code ${gone.body.code}: ${gone.body.message.split(":")[0]}`,
  );
}

/** The same by gRPC. */
export async function playGrpc({ url, token, bootstrap: { organization }, issuer }: Stage): Promise<void> {
  heading("2b. The same by gRPC, on the same port");
  const transport = grpcTransport(url, token);
  const repos = createClient(ReposService, transport);
  const created = await repos.createRepo({ parent: organization.uid, repo: { name: "second" } });
  show("ReposService/CreateRepo", `uid …${created.uid.slice(-16)}`);
  const list = await repos.listRepos({ uidp: { descendantsOf: organization.uid } });
  show("ReposService/ListRepos", `${list.repos.map(({ name }) => name).join(", ")}; total_count ${list.totalCount}`);
  const read = await repos.getRepo({ uid: created.uid });
  show("ReposService/GetRepo", `name ${read.name}`);
  const changed = await repos.updateRepo({ repo: { uid: created.uid, description: "my second repo" } });
  expect(
    changed.description === "my second repo" && changed.name === "second",
    "the change was not made, or changed more",
  );
  show("ReposService/UpdateRepo", `description "${changed.description}"`);

  const identities = createClient(IdentitiesService, transport);
  const identity = await identities.createIdentity({
    parent: organization.uid,
    identity: {
      name: "ci",
      relationship: {
        case: "claimMatch",
        value: { iss: { case: "issuer", value: issuer }, sub: { case: "subject", value: "ci" } },
      },
    },
  });
  const {
    roles: [viewer],
  } = await createClient(RolesService, transport).listRoles({ name: "viewer" });
  expect(viewer?.name === "viewer", "there is no role named viewer");
  const bindings = createClient(RoleBindingsService, transport);
  const binding = await bindings.createRoleBinding({
    parent: organization.uid,
    roleBinding: { identityUid: identity.uid, roleUid: viewer.uid },
  });
  show(
    "RoleBindingsService/CreateRoleBinding",
    `${binding.identity?.name} is ${binding.role?.name} of ${binding.group?.name}`,
  );
  await bindings.deleteRoleBinding({ uid: binding.uid });
  await identities.deleteIdentity({ uid: identity.uid });
  await repos.deleteRepo({ uid: created.uid });
  const rest = await repos.listRepos({ uidp: { descendantsOf: organization.uid } });
  show("delete the three, and list again", `total_count ${rest.totalCount}`);
}
