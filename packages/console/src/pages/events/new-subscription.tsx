import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useId, useState } from "react";
import { call } from "../../api/call.ts";
import {
  createSubscription,
  listSubscriptions,
  type Subscription,
  type SubscriptionFormat,
  testSubscription,
} from "../../api/gen/events.ts";
import type { Group } from "../../api/gen/iam.ts";
import { collection } from "../../api/queries.ts";
import { fieldErrors, otherError } from "../../lib/field-errors.ts";
import { GroupField } from "../../ui/group-field.tsx";
import { linesOf } from "../../lib/lines.ts";
import { useRights } from "../../lib/rights.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { CheckField, TextArea, TextField } from "../../ui/field.tsx";
import { Stack } from "../../ui/page.tsx";
import { say } from "../../ui/toasts.tsx";
import { EventChoice } from "./event-choice.tsx";
import { prefixOf } from "./event-ticks.ts";
import { FormatChoice } from "./format-choice.tsx";
import { recentEventsQuery } from "./recent-events.ts";

export interface NewSubscriptionProps {
  groups: readonly Group[];
  /** The group that is chosen at first. */
  group: string;
  onClose: () => void;
  /** Gets the subscription with its secret. */
  onMade: (made: Subscription) => void;
}

const noteTest = (): void => say("A test event is being sent");
const noteNoTest = (): void => say("The webhook was made, but the test could not be sent");

const FIELDS = ["sink", "typePrefixes", "subjectPrefixes"];

/** Asks where events are sent, and which. */
export function NewSubscription({ groups, group: first, onClose, onMade }: NewSubscriptionProps) {
  const client = useQueryClient();
  const formId = useId();
  const [group, setGroup] = useState(first);
  const rights = useRights(group);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [format, setFormat] = useState<SubscriptionFormat>("SUBSCRIPTION_FORMAT_CLOUDEVENTS");
  const [isTested, setTested] = useState(false);
  const { data: recent } = useQuery(recentEventsQuery(group));
  const prefix = prefixOf(recent?.types[0]);
  const make = useMutation({
    mutationFn: (form: FormData) =>
      call(createSubscription, {
        parent: group,
        subscription: {
          sink: String(form.get("sink")).trim(),
          typePrefixes: [...ticked.map((type) => prefix + type), ...linesOf(form.get("types"))],
          subjectPrefixes: linesOf(form.get("subjects")),
          taggedOnly: form.get("tagged") !== null,
          format,
        },
      }),
    onSuccess: async (made) => {
      // That it was made holds whatever becomes of the test: its delivery says that.
      if (isTested) await call(testSubscription, { uid: made.uid }).then(noteTest, noteNoTest);
      await client.invalidateQueries({ queryKey: [collection(listSubscriptions)] });
      onClose();
      onMade(made);
    },
  });
  const wrong = fieldErrors(make.error);
  const submit = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    if (rights("CAP_EVENTS_SUBSCRIPTION_CREATE") === undefined) make.mutate(new FormData(event.currentTarget));
  };
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="New webhook"
      description="Calls your address when something happens in a group or below it, and retries until it answers."
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            type="submit"
            form={formId}
            isBusy={make.isPending}
            disabledReason={rights("CAP_EVENTS_SUBSCRIPTION_CREATE")}
          >
            Create
          </Button>
        </>
      }
    >
      <form id={formId} onSubmit={submit}>
        <Stack>
          <GroupField value={group} onValue={setGroup} groups={groups} />
          <TextField
            label="Send to"
            name="sink"
            type="url"
            required
            placeholder="https://hooks.example.com/moorage"
            help="Your https address. It cannot be changed later."
            error={wrong("sink")}
          />
          <FormatChoice group={group} format={format} onFormat={setFormat} />
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
          <CheckField
            label="Send a test"
            help="As soon as it is made: the deliveries of the webhook say what became of it"
            checked={isTested}
            onChange={({ target: { checked } }) => setTested(checked)}
          />
          <ErrorNote error={otherError(make.error, FIELDS)} />
        </Stack>
      </form>
    </Dialog>
  );
}
