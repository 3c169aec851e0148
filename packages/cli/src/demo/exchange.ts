// Part 5: a token of another OpenID provider is exchanged for a platform token, with only the rights of one role.
import { ReposService } from "@moorage/api";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { grpcTransport } from "./platform.ts";
import { expect, heading, show } from "./show.ts";
import { rest, restOk, type Stage } from "./stage.ts";

type Named = { uid: string; name: string };
type Failure = { code: number; message: string; details: { reason?: string }[] };

/** Requests the robot's token for one audience from the provider, like the robot would. */
async function robotToken(issuer: string, audience: string): Promise<string> {
  const response = await fetch(`${issuer}/token`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from("robot:robot-secret").toString("base64")}` },
    body: new URLSearchParams({ grant_type: "client_credentials", resource: audience }),
    signal: AbortSignal.timeout(10_000),
  });
  expect(response.ok, `the OpenID provider answered ${response.status}`);
  return ((await response.json()) as { access_token: string }).access_token;
}

/** Exchanges the token and uses it. */
export async function playExchange({ url, token, issuer, bootstrap: { organization } }: Stage): Promise<void> {
  heading("5. Trade a token of another OpenID provider");
  const claimMatch = { issuer, subject: "robot", audience: url };
  const robot = await restOk<Named>(`${url}/iam/v2/identities/${organization.uid}`, "POST", token, {
    name: "robot",
    claimMatch,
  });
  show("an identity whose claim match is the provider and subject robot", `uid …${robot.uid.slice(-16)}`);
  const external = await robotToken(issuer, url);
  show("the provider gives the robot its token", `${external.slice(0, 24)}…`);
  const exchange = `${url}/sts/exchange?${new URLSearchParams({ aud: url, identity: robot.uid })}`;
  const { token: exchanged } = await restOk<{ token: string }>(exchange, "POST", external);
  show("POST /sts/exchange", `${exchanged.slice(0, 24)}…`);

  const list = `${url}/registry/v2/repos?uidp.descendants_of=${organization.uid}`;
  const before = await restOk<{ repos: Named[] }>(list, "GET", exchanged);
  expect(before.repos.length === 0, "an identity without a role sees repos");
  show("list repos, without a role", "empty");
  const {
    roles: [viewer],
  } = await restOk<{ roles: Named[] }>(`${url}/iam/v2/roles?name=viewer`, "GET", token);
  expect(viewer !== undefined, "there is no role named viewer");
  await restOk(`${url}/iam/v2/roleBindings/${organization.uid}`, "POST", token, {
    identityUid: robot.uid,
    roleUid: viewer.uid,
  });
  const after = await restOk<{ repos: Named[] }>(list, "GET", exchanged);
  expect(
    after.repos.some(({ name }) => name === "hello"),
    "a viewer does not see the repo",
  );
  show("list repos, once the owner has bound the role viewer", after.repos.map(({ name }) => name).join(", "));
  const create = await rest<Failure>(`${url}/registry/v2/repos/${organization.uid}`, "POST", exchanged, {
    name: "forbidden",
  });
  expect(create.status === 403 && create.body.code === 7, `a viewer's create answered ${create.status}`);
  show("create a repo as viewer, by REST", `refused: HTTP 403, ${create.body.details[0]?.reason}`);
  const repos = createClient(ReposService, grpcTransport(url, exchanged));
  const rejection = await repos
    .createRepo({ parent: organization.uid, repo: { name: "forbidden" } })
    .then(() => undefined, ConnectError.from);
  expect(rejection?.code === Code.PermissionDenied, `a viewer's create by gRPC answered ${rejection?.message}`);
  show("create a repo as viewer, by gRPC", "refused: PERMISSION_DENIED");
}
