import { useQuery } from "@tanstack/react-query";
import { getSubscriptionSample, type SubscriptionFormat } from "../../api/gen/events.ts";
import { query } from "../../api/queries.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Json } from "../../ui/json.tsx";
import { Segmented } from "../../ui/segments.tsx";
import styles from "./events.module.css";
import { FORMATS } from "./format-words.ts";

export interface FormatChoiceProps {
  /** Of the webhook. */
  group: string;
  format: SubscriptionFormat;
  onFormat: (format: SubscriptionFormat) => void;
}

/** In which form events are sent, and what a test event looks like in it. */
export function FormatChoice({ group, format, onFormat }: FormatChoiceProps) {
  const { data, error } = useQuery({
    ...query(getSubscriptionSample, { parent: group, format }),
    enabled: group !== "",
    retry: false,
  });
  return (
    <div>
      <p className={styles.head}>
        <strong>Format</strong> it cannot be changed later
      </p>
      <Segmented label="Format" value={format} options={FORMATS} onValue={onFormat} />
      <details className={styles.sample}>
        <summary>What will be sent</summary>
        {data !== undefined && (
          <>
            <Json value={JSON.parse(data.body) as unknown} label="Copy the sample" />
            <p className={styles.head}>
              {data.signed
                ? "The body of a test event. It is signed, and the attributes of CloudEvents are in the headers."
                : "A test message. It is not signed: whoever knows the address can write there."}
            </p>
          </>
        )}
        <ErrorNote error={error} />
      </details>
    </div>
  );
}
