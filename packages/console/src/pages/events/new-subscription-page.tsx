import { useMutation, useQuery, useQueryClient, useSuspenseQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { call } from "../../api/call.ts";
import {
  createSubscription,
  listSubscriptions,
  type Subscription,
  type SubscriptionFormat,
  testSink,
} from "../../api/gen/events.ts";
import { collection } from "../../api/queries.ts";
import { fieldErrors, otherError } from "../../lib/field-errors.ts";
import { groupsQuery } from "../../lib/groups.ts";
import { linesOf } from "../../lib/lines.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { CheckField, SegmentsField, TextArea, TextField } from "../../ui/field.tsx";
import { GroupField } from "../../ui/group-field.tsx";
import { Page, Row, Stack } from "../../ui/page.tsx";
import { say } from "../../ui/toasts.tsx";
import { EventChoice } from "./event-choice.tsx";
import { prefixOf } from "./event-ticks.ts";
import styles from "./events.module.css";
import { FORMATS, isSigned, NOT_SIGNED } from "./format-words.ts";
import { recentEventsQuery } from "./recent-events.ts";
import { SamplePanel } from "./sample-panel.tsx";
import { SecretDialog } from "./secret-dialog.tsx";
import { sinkTestWords } from "./sink-test-words.ts";

const route = getRouteApi("/shell/events/subscriptions/new");
const FIELDS = ["sink", "typePrefixes", "subjectPrefixes"];

/** Asks where events are sent, which and in what form, shows one, and sends a test before anything is made. */
export function NewSubscriptionPage() {
  const { group: asked = "" } = route.useSearch();
  const { groups } = useSuspenseQuery(groupsQuery).data;
  const client = useQueryClient();
  const navigate = useNavigate();
  const group = asked || groups[0]?.uid || "";
  const reason = useRights(group)("CAP_EVENTS_SUBSCRIPTION_CREATE");
  const mayNot = group === "" ? "You cannot see any group" : reason;
  const [sink, setSink] = useState("");
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [format, setFormat] = useState<SubscriptionFormat>("SUBSCRIPTION_FORMAT_CLOUDEVENTS");
  const [made, setMade] = useState<Subscription>();
  const { data: recent } = useQuery(recentEventsQuery(group));
  const prefix = prefixOf(recent?.types[0]);
  const attempt = useMutation({
    mutationFn: () => call(testSink, { parent: group, sink: sink.trim(), format }),
  });
  const open = async ({ uid }: Subscription): Promise<void> =>
    await navigate({ to: "/events/subscription", search: { uid } });
  const make = useMutation({
    mutationFn: (form: FormData) =>
      call(createSubscription, {
        parent: group,
        subscription: {
          sink: sink.trim(),
          typePrefixes: [...ticked.map((type) => prefix + type), ...linesOf(form.get("types"))],
          subjectPrefixes: linesOf(form.get("subjects")),
          taggedOnly: form.get("tagged") !== null,
          format,
        },
      }),
    onSuccess: async (subscription) => {
      await client.invalidateQueries({ queryKey: [collection(listSubscriptions)] });
      if (isSigned(subscription.format)) return setMade(subscription);
      say("The webhook was made", NOT_SIGNED);
      await open(subscription);
    },
  });
  const wrong = fieldErrors(make.error);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (mayNot === undefined) make.mutate(new FormData(event.currentTarget));
  };
  // What was tried before says nothing about another address.
  const forget = (): void => attempt.reset();
  return (
    <Page
      title="New webhook"
      lede="Calls your address when something happens in a group or below it, and retries until it answers."
    >
      <div className={styles.columns}>
        <form onSubmit={submit}>
          <Stack>
            <TextField
              label="Address"
              name="sink"
              type="url"
              required
              value={sink}
              onChange={({ target: { value } }) => {
                forget();
                setSink(value);
              }}
              placeholder="https://hooks.example.com/moorage"
              help="Where events are sent, by https. It cannot be changed later."
              error={wrong("sink") ?? fieldErrors(attempt.error)("sink")}
            />
            <div className={styles.pair}>
              <GroupField
                value={group}
                onValue={(uid) => {
                  forget();
                  void navigate({ to: "/events/subscriptions/new", search: { group: uid }, replace: true });
                }}
                groups={groups}
              />
              <SegmentsField
                label="Format"
                help="It cannot be changed later."
                value={format}
                options={FORMATS}
                onValue={(next) => {
                  forget();
                  setFormat(next);
                }}
              />
            </div>
            <EventChoice group={group} ticked={ticked} onTicked={setTicked} />
            <TextArea
              label="Types"
              name="types"
              rows={2}
              spellCheck={false}
              placeholder={`${prefix}scanner.`}
              help="What other types begin with, one per line."
              error={wrong("typePrefixes")}
            />
            <TextArea
              label="Subjects"
              name="subjects"
              rows={2}
              spellCheck={false}
              help="Uids of images or groups, one per line. Leave empty for all."
              error={wrong("subjectPrefixes")}
            />
            <CheckField label="Only by tag" name="tagged" help="Only pushes and pulls by tag" />
            <ErrorNote error={otherError(make.error, FIELDS) ?? otherError(attempt.error, FIELDS)} />
            <Row>
              <Button look="primary" type="submit" isBusy={make.isPending} disabledReason={mayNot}>
                Create webhook
              </Button>
              <Button
                isBusy={attempt.isPending}
                disabledReason={mayNot ?? (sink.trim() === "" ? "Enter an address first" : undefined)}
                onClick={() => attempt.mutate()}
              >
                Send a test
              </Button>
              <Link to="/events/subscriptions" search={{ group: asked }}>
                Cancel
              </Link>
              <span role="status" className={styles.quiet}>
                {attempt.data !== undefined && sinkTestWords(attempt.data)}
              </span>
            </Row>
          </Stack>
        </form>
        <SamplePanel group={group} format={format} />
      </div>
      <SecretDialog subscription={made} onClose={() => made && void open(made)} />
    </Page>
  );
}
