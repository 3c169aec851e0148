import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { QUICK, startReceiver } from "../../server/test/support/receiver.ts";
import { eventually } from "../../server/test/support/eventually.ts";
import { type Console, needs, openConsole } from "./support/console.ts";

let opened: Console | undefined;
before(async () => {
  opened = await openConsole(QUICK);
});
after(() => opened?.close());

test("a subscription is made, tried, paused, gets a new secret, and is deleted", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const receiver = await startReceiver(t);
  const page = await signedIn();
  await page.goto("/events/subscriptions");
  await page.getByText("No webhooks yet").waitFor();

  await page.getByRole("button", { name: "New webhook" }).click();
  await page.getByRole("heading", { name: "New webhook" }).waitFor();
  const sink = page.getByRole("textbox", { name: "Address" });
  await sink.fill("https://user:secret@hooks.example.com/");
  await page.getByLabel("Types").fill("elsewhere.");
  await page.getByRole("button", { name: "Create webhook" }).click();
  await eventually(async () => (await sink.getAttribute("aria-invalid")) === "true");
  assert.equal(await page.getByRole("textbox", { name: "Types" }).getAttribute("aria-invalid"), "true");
  await sink.fill(`${receiver.url}/hook`);
  await page.getByLabel("Types").fill("dev.moorage.api.iam.group.");
  await page.getByRole("checkbox", { name: "A finding opened" }).check();
  await page.getByText("1 chosen").waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await page.getByText(/^Delivered: the answer was 204, after [\d.]+ s$/).waitFor();
  const tried = receiver.events().length;
  assert.equal(tried, 1);
  await page.getByRole("button", { name: "Create webhook" }).click();
  const secret = page.getByRole("group", { name: "secret" });
  assert.match(await secret.innerText(), /^whsec_/);
  const first = await secret.innerText();
  await page.getByRole("button", { name: "I have saved it" }).click();
  await page.getByRole("heading", { name: `${receiver.url}/hook` }).waitFor();
  await page.getByText("dev.moorage.vulnerabilities.finding.opened.").waitFor();
  await page.getByRole("button", { name: "Send a test" }).click();
  await eventually(() => receiver.events().length === tried + 1);
  await page.getByRole("row", { name: /events\.test.*Delivered/ }).waitFor();
  assert.equal(await page.getByText(first).count(), 0);

  await page.getByRole("button", { name: "Pause" }).click();
  await page.getByText("Paused", { exact: true }).waitFor();
  await platform.group(platform.organization);
  await page.getByText("1 waiting").waitFor();
  assert.equal(receiver.events().length, tried + 1);
  await page.getByRole("button", { name: "Resume" }).click();
  await eventually(() => receiver.events().length === tried + 2);

  await page.getByRole("button", { name: "New secret…" }).click();
  await page.getByRole("button", { name: "Create a new secret" }).click();
  assert.notEqual(await secret.innerText(), first);
  await page.getByRole("button", { name: "I have saved it" }).click();

  await page.getByRole("button", { name: "Delete…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
  await page.getByText("No webhooks yet").waitFor();
  assert.deepEqual(complaints, []);
});

test("dead letters are found, their attempts read, and sent again", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const receiver = await startReceiver(t);
  receiver.answer = 500;
  const { uid } = await platform.subscription(platform.organization, {
    sink: receiver.url,
    typePrefixes: ["dev.moorage.events.test."],
  });
  await platform.ok("POST", `/events/v2/subscriptions/${uid}:test`, {});
  const page = await signedIn();
  await page.goto(`/events/subscription?uid=${uid}`);
  await page.getByLabel("State").selectOption({ label: "dead letter" });
  await page.waitForURL(/state=DELIVERY_STATE_DEAD/);
  await page.getByRole("button", { name: /events\.test/ }).click();
  const attempts = page.getByRole("list", { name: "Attempts" }).getByRole("listitem");
  assert.match(await attempts.first().innerText(), /500/);
  assert.ok((await attempts.count()) > 1);

  receiver.answer = 204;
  const before = receiver.events().length;
  await page.getByRole("button", { name: "Send again", exact: true }).click();
  await eventually(() => receiver.events().length > before);
  await page.keyboard.press("Escape");
  await page.getByText("No deliveries").waitFor();

  await page.getByRole("button", { name: "Send again…" }).click();
  await page.getByLabel("Which").selectOption({ label: "delivered events" });
  await page.getByRole("dialog").getByRole("button", { name: "Send again" }).click();
  await page.getByText("1 event sent again").waitFor();
  await eventually(() => receiver.events().length > before + 1);
  assert.deepEqual(complaints, []);
});

test("a viewer sees subscriptions, and why they cannot be changed", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid } = await platform.subscription(platform.organization);
  const identity = await platform.identity(platform.organization, "viewer");
  const page = await signedIn({ identity });
  await page.goto(`/events/subscription?uid=${uid}`);
  for (const name of ["Send a test", "Pause", "Send again…", "New secret…", "Delete…"]) {
    const button = page.getByRole("button", { name });
    await eventually(async () => (await button.getAttribute("aria-description"))?.startsWith("You need CAP_EVENTS"));
    await button.click({ force: true });
    assert.equal(await page.getByRole("dialog").count(), 0);
  }
  const { state } = await platform.ok<{ state: string }>("GET", `/events/v2/subscriptions/${uid}`);
  assert.equal(state, "SUBSCRIPTION_STATE_ACTIVE");
  assert.deepEqual(complaints, []);
});

test("kinds of events say how many there were lately in the group", async (t) => {
  const console_ = needs(t, opened);
  if (console_ === undefined) return;
  const { platform, signedIn, complaints } = console_;
  const { uid: group } = await platform.group(platform.organization);
  const quiet = await platform.group(platform.organization);
  for (let left = 2; left > 0; left--) await platform.identity(group, "viewer");
  const recent = async (): Promise<string[]> => {
    const path = `/events/v2/events?group=${group}&cursor=recent&page_size=200`;
    return (await platform.ok<{ events: { type: string }[] }>("GET", path)).events.map(({ type }) => type);
  };
  await eventually(async () => (await recent()).filter((type) => type.includes("rolebindings")).length === 2);
  const total = (await recent()).length;
  const page = await signedIn();
  await page.goto(`/events/subscriptions?group=${group}`);
  await page.getByRole("button", { name: "New webhook" }).click();
  const events = page.getByRole("group", { name: "Events" });
  await events.getByText(`none selected: all events are sent: ${total} of the last ${total} events`).waitFor();
  await events.getByText("2 lately", { exact: true }).waitFor();
  await events.getByRole("checkbox", { name: "Roles of people or machines changed" }).check();
  await events.getByText(`1 chosen: 2 of the last ${total} events`).waitFor();
  await events.getByText("several for one push of an image; 0 lately").waitFor();
  await page.getByRole("main").getByLabel("Group").selectOption(quiet.uid);
  await events.getByText(/^Events 1 chosen: (?:0 of the last|no event)/).waitFor();
  assert.deepEqual(complaints, []);
});

test("a webhook for Slack shows what it will send, and says what came of a test before it is made", async (t) => {
  const { signedIn, complaints } = needs(t, opened) ?? {};
  if (signedIn === undefined) return;
  const receiver = await startReceiver(t);
  const page = await signedIn();
  await page.goto("/events/subscriptions/new");
  const main = page.getByRole("main");
  await main.getByText("It is signed, and the attributes of CloudEvents are in the headers.").waitFor();
  await main.getByRole("radio", { name: "Slack" }).check({ force: true });
  await main.getByText("It is not signed: whoever knows the address can write there.").waitFor();
  await main.getByText("A test of the webhook").first().waitFor();
  await main.getByLabel("Address").fill(`${receiver.url}/chat`);
  receiver.answer = 404;
  await main.getByRole("button", { name: "Send a test" }).click();
  await main.getByText(/^Not delivered: the answer was 404, after/).waitFor();
  // What was said of the one address is not said of another.
  await main.getByLabel("Address").fill(`${receiver.url}/other`);
  await eventually(async () => (await main.getByText(/^Not delivered/).count()) === 0);
  await main.getByLabel("Address").fill(`${receiver.url}/chat`);
  receiver.answer = 204;
  await main.getByRole("button", { name: "Send a test" }).click();
  await main.getByText(/^Delivered: the answer was 204/).waitFor();
  await eventually(() => receiver.got.some(({ body }) => body.includes('"text":"A test of the webhook"')));
  await main.getByRole("button", { name: "Create webhook" }).click();
  // Nothing is signed with a secret, so there is none to save.
  await page.getByText("The webhook was made", { exact: true }).waitFor();
  assert.equal(await page.getByRole("dialog", { name: "Save this secret now" }).count(), 0);
  await page.getByRole("heading", { name: `${receiver.url}/chat` }).waitFor();
  await page.getByText("Slack", { exact: true }).waitFor();
  const facts = page.getByRole("main");
  await facts.getByText("Messages are not signed: whoever knows the address can write there.").waitFor();
  await page.getByRole("button", { name: "Send a test" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "New secret…" }).count(), 0);
  assert.deepEqual(complaints, []);
});
