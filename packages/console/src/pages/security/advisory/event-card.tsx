import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../../api/call.ts";
import { type AdvisoryEvent, type ReviewState, updateAdvisoryEvent } from "../../../api/gen/vulnerabilities.ts";
import { IdentityName } from "../../../lib/identity-name.tsx";
import type { Rights } from "../../../lib/rights.ts";
import { Badge, type BadgeLook } from "../../../ui/badge.tsx";
import { Button } from "../../../ui/button.tsx";
import { ErrorNote } from "../../../ui/error-note.tsx";
import { OutsideLink } from "../../../ui/outside-link.tsx";
import { Card, Row } from "../../../ui/page.tsx";
import { Time } from "../../../ui/time.tsx";
import { eventDetails, eventTypeOf, eventWords, REVIEW_WORDS } from "../words.ts";

const LOOKS: Readonly<Record<string, BadgeLook>> = {
  REVIEW_STATE_APPROVED: "success",
  REVIEW_STATE_REQUEST_CHANGES: "warning",
  REVIEW_STATE_REJECTED: "danger",
};
const REVIEWS: readonly (readonly [label: string, state: ReviewState])[] = [
  ["Approve", "REVIEW_STATE_APPROVED"],
  ["Ask for changes", "REVIEW_STATE_REQUEST_CHANGES"],
  ["Reject", "REVIEW_STATE_REJECTED"],
];

/** One event of an advisory, with its review. */
export function EventCard({ event, rights }: { event: AdvisoryEvent; rights: Rights }) {
  const [state, setState] = useState<{ busy?: ReviewState; error?: unknown }>({});
  const client = useQueryClient();
  const review = async (reviewState: ReviewState): Promise<void> => {
    setState({ busy: reviewState });
    try {
      // What was read goes along, so that nothing is approved that the author has changed meanwhile.
      const { uid, createTime: _made, author: _by, reviewer: _reviewer, reviewTime: _when, ...content } = event;
      await call(updateAdvisoryEvent, { advisoryEvent: { ...content, uid, reviewState } });
      await client.invalidateQueries({ queryKey: ["/vulnerabilities/v2/advisories"] });
      setState({});
    } catch (error) {
      setState({ error });
    }
  };
  const word = REVIEW_WORDS[event.reviewState.replace("REVIEW_STATE_", "")] ?? "";
  const reason = rights("CAP_ADVISORIES_APPROVE") ?? rights("CAP_ADVISORIES_UPDATE");
  return (
    <Card>
      <Row>
        <h3>{eventWords(eventTypeOf(event))}</h3>
        <Badge look={LOOKS[event.reviewState] ?? "plain"}>{word}</Badge>
      </Row>
      <p>
        <Time value={event.createTime} />, by <IdentityName uid={event.author} />
        {event.reviewer !== "" && (
          <>
            ; reviewed <Time value={event.reviewTime} /> by <IdentityName uid={event.reviewer} />
          </>
        )}
      </p>
      {eventDetails(event).map((text) => (
        <p key={text}>{text}</p>
      ))}
      {event.issue !== "" && (
        <p>
          Issue: <OutsideLink href={event.issue} />
        </p>
      )}
      <ErrorNote error={state.error} />
      <Row>
        {REVIEWS.filter(([, each]) => each !== event.reviewState).map(([label, each]) => (
          <Button key={each} disabledReason={reason} isBusy={state.busy === each} onClick={() => void review(each)}>
            {label}
          </Button>
        ))}
      </Row>
    </Card>
  );
}
