import { Command } from "../../ui/command.tsx";
import { Panel, PanelBody } from "../../ui/panel.tsx";
import styles from "./home-page.module.css";

/** What to do first, while nothing was pushed yet. */
export function FirstSteps({ organization }: { organization: string }) {
  const { host } = window.location;
  return (
    <Panel title="First steps">
      <PanelBody>
        <ol className={styles.steps}>
          <li>
            <div>
              <p>
                Log in with docker. The password is a <a href="/profile/tokens">personal token</a>.
              </p>
              <Command text={`docker login ${host}`} label="login command" prompt="$" />
            </div>
          </li>
          <li>
            <div>
              <p>Push an image. The first push creates it.</p>
              <Command text={`docker push ${host}/${organization}/hello:1.0`} label="push command" prompt="$" />
            </div>
          </li>
          <li>
            <div>
              <p>
                Turn on <a href="/operations/feeds">feeds</a>, so that findings are known. It takes an operator.
              </p>
            </div>
          </li>
        </ol>
      </PanelBody>
    </Panel>
  );
}
