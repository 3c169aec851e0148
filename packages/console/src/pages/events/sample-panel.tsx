import { useQuery } from "@tanstack/react-query";
import { getSubscriptionSample, type SubscriptionFormat } from "../../api/gen/events.ts";
import { query } from "../../api/queries.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Json } from "../../ui/json.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import styles from "./events.module.css";

/** What a test event of a webhook of the group looks like in a format. */
export function SamplePanel({ group, format }: { group: string; format: SubscriptionFormat }) {
  const { data, error } = useQuery({
    ...query(getSubscriptionSample, { parent: group, format }),
    enabled: group !== "",
    retry: false,
  });
  return (
    <Panel title="What will be sent" actions={<span className={styles.quiet}>A test event</span>}>
      <PanelBody>
        <div className={styles.sample}>
          {data !== undefined && (
            <>
              <Json value={JSON.parse(data.body) as unknown} label="sample" />
              <p>
                {data.signed
                  ? "The body of a test event. It is signed, and the attributes of CloudEvents are in the headers."
                  : "A test message. It is not signed: whoever knows the address can write there."}
              </p>
            </>
          )}
          <ErrorNote error={error} />
        </div>
      </PanelBody>
    </Panel>
  );
}
