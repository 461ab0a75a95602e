internal import HTTPServer

/// A file of the page, which is part of the program.
enum PageFile: String {
    case index = "/index.html"
    case style = "/page.css"
    case script = "/page.js"
    case picture = "/picture.js"
    case plot = "/plot.js"
    case tuning = "/tuning.js"
    case icon = "/icon.svg"

    init?(path: String) { self.init(rawValue: path) }

    private var bytes: [UInt8] {
        switch self {
        case .index: PackageResources.index_html
        case .style: PackageResources.page_css
        case .script: PackageResources.page_js
        case .picture: PackageResources.picture_js
        case .plot: PackageResources.plot_js
        case .tuning: PackageResources.tuning_js
        case .icon: PackageResources.icon_svg
        }
    }

    private var type: String {
        switch self {
        case .index: "text/html; charset=utf-8"
        case .style: "text/css; charset=utf-8"
        case .script, .picture, .plot, .tuning: "text/javascript; charset=utf-8"
        case .icon: "image/svg+xml"
        }
    }

    /// Everything comes from here and goes nowhere else.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

    var response: HTTPResponse {
        HTTPResponse(type: type, bytes).with("Content-Security-Policy", Self.policy).with("Referrer-Policy", "no-referrer")
            .with("Cross-Origin-Resource-Policy", "same-origin")
    }
}
