#!/usr/bin/python3
"""Uses a Horizon as a person with a browser does: logs in through the Gateway, looks at the
projects, uploads an image, goes on while each pod is replaced, changes the language and logs out.

Usage: browse.py <PASSWORD   that of the user admin
Environment: URL (of the Horizon), RULES and KEYS (those of gateway.sh), NAMESPACE and HORIZON (its name), IMAGE (a file to upload as
an image with the name of the file; empty: nothing is uploaded), SCREENSHOTS (a folder for pictures of the pages; empty: none are taken).
"""

import contextlib
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, TimeoutException
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions as expected
from selenium.webdriver.support.ui import Select, WebDriverWait

URL = os.environ["URL"]
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
# A page is slow while a busy machine starts its pods.
PATIENCE = 120


def browser(profile):
    """Returns a browser that reaches the Horizon through the Gateway, and trusts only certain keys."""
    options = webdriver.ChromeOptions()
    for argument in (
        # "new" has the same engine as a browser with a window.
        "--headless=new", f"--user-data-dir={profile}", "--no-proxy-server", "--lang=en", "--disable-dev-shm-usage",
        f"--host-resolver-rules={os.environ['RULES']}", f"--ignore-certificate-errors-spki-list={os.environ['KEYS']}",
    ):
        options.add_argument(argument)
    if os.geteuid() == 0:
        # The sandbox does not work for root.
        options.add_argument("--no-sandbox")
    return webdriver.Chrome(service=Service("/usr/bin/chromedriver"), options=options)


class Person:
    """Someone in front of a browser."""

    def __init__(self, driver):
        self.driver = driver

    def open(self, path):
        self.driver.get(URL + path)

    def until(self, condition, message):
        """Waits for a condition, and returns what it returns. A page may replace an element while it is read."""
        wait = WebDriverWait(self.driver, PATIENCE, ignored_exceptions=[NoSuchElementException, StaleElementReferenceException])
        try:
            return wait.until(condition)
        except TimeoutException:
            text = self.driver.find_element(By.TAG_NAME, "body").text
            sys.exit(f"waited in vain for {message} on {self.driver.current_url}, which says: {text[:1000]}")

    def sees(self, selector):
        """Returns the element of a CSS selector, once it can be seen."""
        return self.until(
            expected.visibility_of_element_located((By.CSS_SELECTOR, selector)), selector)

    def leaves(self, path):
        self.until(
            lambda driver: not urllib.parse.urlsplit(driver.current_url).path.startswith(path), f"another page than {path}")

    def photographs(self, name):
        """Saves the page as a desktop and as a phone shows it."""
        for size, (width, height) in SIZES.items():
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": size == "phone"})
            self.until(lambda driver: driver.execute_script("return document.readyState") == "complete", "a complete page")
            if os.environ.get("SCREENSHOTS"):
                self.driver.save_screenshot(str(pathlib.Path(os.environ["SCREENSHOTS"]) / f"{name}-{size}.png"))
        self.driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def kubectl(*arguments):
    return subprocess.run(["kubectl", "--namespace", os.environ["NAMESPACE"], *arguments],
                          check=True, stdout=subprocess.PIPE, text=True).stdout.split()


def replace(pod):
    """Kills a pod, and waits for another in its place."""
    kubectl("delete", pod, "--grace-period=1", "--ignore-not-found")
    kubectl("rollout", "status", "deployment/" + os.environ["HORIZON"], "--timeout=4m")


def log_in(person, password):
    person.open("/")
    person.sees("#id_username").send_keys("admin")
    person.photographs("login")
    person.sees("#id_password").send_keys(password)
    person.sees("#loginBtn").click()
    person.leaves("/auth/")


def see_the_project(person, name):
    person.open("/identity/")
    row = person.sees(f"#tenants tbody tr[data-display={name}]")
    if name not in row.text:
        sys.exit("the table of projects shows: " + row.text)


def upload(person, image):
    """Uploads a file as an image, and waits until the table of images shows it as active."""
    person.open("/project/images")
    person.sees("#images-create-button, hz-resource-table button.btn-primary, actions button").click()
    person.sees("#imageForm-name").send_keys(image.name)
    # The button that people click opens the dialog of a field that they do not see.
    person.until(
        expected.presence_of_element_located((By.CSS_SELECTOR, "input[type=file][name=image_file]")), "the field for a file"
    ).send_keys(str(image))
    Select(person.sees("#imageForm-format")).select_by_visible_text("Raw")
    person.photographs("image")
    person.sees("wizard button.finish").click()
    person.until(
        lambda driver: any(image.name in row.text and "Active" in row.text for row in driver.find_elements(By.CSS_SELECTOR, "tbody tr")),
        f"the active image {image.name} in the table")
    person.photographs("images")


def change_the_language(person, language, greeting):
    person.open("/settings/")
    Select(person.sees("#id_language")).select_by_value(language)
    person.sees("#user_settings_modal input[type=submit], form input.btn-primary[type=submit]").click()
    person.open("/identity/")
    person.until(
        lambda driver: greeting in driver.find_element(By.TAG_NAME, "h1").text, f"a page in {language} with {greeting}")


def log_out(person):
    person.open("/auth/logout/")
    person.sees("#id_username")
    person.open("/identity/")
    person.sees("#id_username")


@contextlib.contextmanager
def somebody():
    """Provides a person with a browser of their own."""
    with tempfile.TemporaryDirectory() as profile:
        driver = browser(profile)
        try:
            yield Person(driver)
        finally:
            driver.quit()


def main():
    password = sys.stdin.readline().strip()
    selector = "--selector=app.kubernetes.io/name=horizon,app.kubernetes.io/instance=" + os.environ["HORIZON"]
    with somebody() as person:
        log_in(person, password)
        see_the_project(person, "admin")
        person.photographs("projects")
        if os.environ.get("IMAGE"):
            upload(person, pathlib.Path(os.environ["IMAGE"]))
        for pod in kubectl("get", "pods", selector, "--output=name"):
            replace(pod)
            see_the_project(person, "admin")
        change_the_language(person, "de", "Projekte")
        log_out(person)


if __name__ == "__main__":
    main()
