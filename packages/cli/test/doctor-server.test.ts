// What `moorage doctor` finds at a running server: webhooks, identity providers, feeds, backlogs and clocks.
import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { eventually } from "../../server/test/support/eventually.ts";
import { openPeopleProvider } from "../../server/test/support/people-provider.ts";
import { startReceiver } from "../../server/test/support/receiver.ts";
import { doctor } from "./doctor.ts";
import { serveHere } from "./server-here.ts";
import { openStage } from "./tasks-stage.ts";

const DAY_MS = 86_400_000;
const SETTINGS = {
  MOORAGE_ALLOW_PRIVATE_NETWORK: "1",
  MOORAGE_EVENTS_RETRY: "1h",
  MOORAGE_EVENTS_TIMEOUT: "5s",
};

test("failing and stopped webhooks, providers, feeds, backlogs and a wrong clock are named, each with its cause", async (t) => {
  const stage = await openStage(t, SETTINGS);
  const { api, folder, url } = stage;
  const { port } = new URL(url);
  const look = (...more: string[]) => doctor(["--port", port, ...more], { cwd: folder });
  const organization = await stage.json<{ uid: string }>("groups", "get", "acme");

  const quiet = await look();
  assert.equal(quiet.states("webhooks"), "ok", quiet.stdout);
  assert.equal(quiet.states("providers"), "ok");
  assert.equal(quiet.states("backlogs"), "ok");

  // Webhooks: one whose sink fails, one that wants no more, one that somebody paused, one that is well.
  const [failing, gone, well] = [await startReceiver(t), await startReceiver(t), await startReceiver(t)];
  failing.answer = 500;
  gone.answer = 410;
  const subscribe = (sink: string) =>
    api("POST", `/events/v2/subscriptions/${organization.uid}`, {
      sink: `${sink}/hook/geheim`,
      typePrefixes: ["dev.moorage.events.test."],
    });
  const [first, second, paused, good] = [
    await subscribe(failing.url),
    await subscribe(gone.url),
    await subscribe(well.url),
    await subscribe(well.url),
  ];
  for (const { uid } of [first, second, good]) await api("POST", `/events/v2/subscriptions/${uid}:test`, {});
  await api("POST", `/events/v2/subscriptions/${paused.uid}:pause`, {});
  await eventually(async () => {
    const { state } = await api<{ state: string }>("GET", `/events/v2/subscriptions/${second.uid}`);
    const { deliveries } = await api<{ deliveries: { state: string }[] }>(
      "GET",
      `/events/v2/deliveries?uidp.childrenOf=${first.uid}`,
    );
    return state === "SUBSCRIPTION_STATE_DISABLED" && deliveries[0]?.state === "DELIVERY_STATE_RETRYING";
  });

  // Providers: a real one whose clock is wrong, and one that nobody listens for.
  const people = await openPeopleProvider();
  t.after(() => people.close());
  people.intercept = (_, response) => {
    response.setHeader("date", new Date(Date.now() + 600_000).toUTCString());
    return false;
  };
  const provide = (name: string, issuer: string) =>
    api("POST", `/iam/v2/identityProviders/${organization.uid}`, { name, oidc: { issuer, clientId: "moorage" } });
  await provide("people", people.url);
  await provide("dead", "http://127.0.0.1:1");

  await api("POST", "/operations/v2/feeds?acceptLicence=true", {
    name: "partner",
    format: "osv",
    licence: "CC0-1.0",
    address: "http://127.0.0.1:1/all.zip?key=geheim",
  });
  await eventually(async () => {
    const { feeds } = await api<{ feeds: { error: string }[] }>("GET", "/operations/v2/feeds");
    return (feeds[0]?.error ?? "") !== "";
  });

  const found = await look();
  assert.equal(found.code, 1);
  const webhooks = found.of("webhooks").map(({ state, message }) => `${state} ${message}`);
  assert.equal(webhooks.length, 4, found.stdout);
  assert.ok(
    webhooks.some((line) =>
      line.startsWith(`failed subscription ${first.uid} to ${failing.url}: 1 deliveries failed and are`),
    ),
    webhooks.join("\n"),
  );
  assert.ok(webhooks.some((line) => /^failed subscription .* gets no events: it is disabled, .*410/.test(line)));
  assert.ok(webhooks.some((line) => line.startsWith(`warning subscription ${paused.uid}`)));
  assert.ok(!found.stdout.includes(good.uid), "the one that is well is not named");
  assert.match(found.stdout, /moorage subscriptions resume/);
  const providers = found.of("providers").map(({ state, message }) => `${state} ${message}`);
  assert.ok(providers.includes(`ok ${people.url} answers as itself, and has 1 keys`), providers.join("\n"));
  assert.ok(providers.some((line) => line.startsWith("failed http://127.0.0.1:1: ") && line.includes("ECONNREFUSED")));
  assert.match(
    found.of("feeds")[0]?.message ?? "",
    /^partner, from http:\/\/127\.0\.0\.1:1\/all\.zip: .*never fetched/,
  );
  assert.equal(found.states("feeds"), "failed");
  const clocks = found.of("clock").map(({ state, message }) => `${state} ${message}`);
  assert.ok(
    clocks.some((line) => /^failed http:.* is (?:599|600|601) s ahead of this machine$/.test(line)),
    clocks.join(),
  );
  assert.doesNotMatch(found.stdout, /geheim/, "addresses are shown without what may be secret");

  // A discovery document of another issuer.
  people.intercept = (request, response) => {
    if (request.url !== "/.well-known/openid-configuration") return false;
    response.end(JSON.stringify({ issuer: "https://other.example", jwks_uri: `${people.url}/jwks` }));
    return true;
  };
  const other = (await look()).of("providers").map(({ state, message }) => `${state} ${message}`);
  assert.ok(other.some((line) => line.startsWith("failed") && line.endsWith('the issuer "https://other.example"')));

  // What waits for longer than an hour: the event whose next attempt is still to come.
  await stage.close();
  const database = new DatabaseSync(join(folder, "data", "moorage.db"));
  database.exec(`update events set time = time - ${DAY_MS}`);
  database.close();
  const again = await serveHere(t, folder, { ...SETTINGS, MOORAGE_PORT: port });
  await eventually(async () => /^moorage_event_backlog\{/m.test(await (await fetch(`${again.url}/metrics`)).text()));
  const late = await look();
  assert.equal(late.states("backlogs"), "warning", late.stdout);
  assert.match(late.of("backlogs")[0]?.message ?? "", /^events for a receiver wait, the longest for 14\d\d minutes$/);
});
