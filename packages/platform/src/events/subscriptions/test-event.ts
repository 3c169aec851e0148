import type { Happened } from "../chat-message.ts";

/** The type of test events, without the configured prefix. */
export const TEST_TYPE = "events.test.v1";
export const TEST_MESSAGE = "This is a test of the subscription.";

/** The test event of a subscription that does not exist yet: its subject is the group. `identity`: of who wants it. */
export function testEvent(group: string, identity: string, nowMs: number): Happened {
  return {
    type: TEST_TYPE,
    subject: group,
    timeMs: nowMs,
    actor: JSON.stringify({ subject: identity }),
    body: JSON.stringify({ subscription: group, message: TEST_MESSAGE }),
  };
}
