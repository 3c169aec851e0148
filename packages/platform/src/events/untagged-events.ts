/**
 * SQL: whether an event, of `events` or of the outbox, is a push or pull that is not by a tag. Every such body has the
 * field, and quotation marks inside JSON strings are escaped, so that the text occurs nowhere else.
 */
export const IS_UNTAGGED = `(type in ('registry.push.v1', 'registry.pull.v1') and body like '%"tag":""%')`;
